package proxy

import (
	"errors"
	"io"
	"log/slog"

	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/proxy/internal/flight"
)

// refuse makes the answer an error of our own.
func (p *Proxy) refuse(x *exchange, status int, why reason.Reason) {
	x.answerText(status, resultError)
	x.reason = why
	if why == reason.OnlyIfCached || why == reason.Denied || why == reason.Unauthenticated || why == reason.Overload || why == reason.Rate || why == reason.ClientShare {
		x.fwd = fwdNone // it never went forward (RFC 9211 section 2.2)
	}
}

// levelFor keeps what a client or an overload can cause at will out of the
// default log.
func levelFor(why reason.Reason) slog.Level {
	switch why {
	case reason.OriginError, reason.OriginTimeout:
		return slog.LevelWarn
	case reason.Panic:
		return slog.LevelError
	default:
		return slog.LevelDebug
	}
}

// cutOff notes that a body broke after its header was sent.
func (p *Proxy) cutOff(x *exchange, err error) {
	if x.presence.Left() {
		x.reason = reason.ClientGone
		return
	}
	x.reason = reason.Incomplete
	if errors.Is(err, flight.ErrBehind) {
		x.reason = reason.FellBehind
	}
	x.brokeOff(err)
	if !errors.Is(err, io.ErrClosedPipe) {
		p.logCut(x, err)
	}
}
