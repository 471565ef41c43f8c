package proxy

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"edgeproxy/internal/conn/rescue"
	"edgeproxy/internal/http/message"
	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/ops/accesslog"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/proxy/internal/tunnel"
)

// This file writes what the logs say of a request: a line of the access log, and one of the
// program's own log where it has failed.

// logged reports whether x is among the requests that the access log has.
func (x *routed) logged() bool {
	share := x.settings.LogSample
	if x.route != nil {
		if share = x.route.Log.Sample; !x.route.Log.Enabled {
			return false
		}
	}
	return share >= 1 || share > 0 && rand.Float64() < share //nolint:gosec // a sample is no secret
}

func (p *Proxy) log(x *exchange, status int, duration time.Duration) {
	line := accesslog.Line{
		Time: x.start, Host: x.host, Target: x.target.Raw, Method: x.method, Status: status, Bytes: x.bytes + x.received,
		Result: x.result.String(), Reason: x.reason.String(), Duration: duration, FirstByte: max(x.firstByte, 0),
		Client: x.ClientAddress(), Scheme: x.scheme, Protocol: versionWords[x.req.Version], Sightings: x.verdict.Sightings,
	}
	if x.target.Raw == nil { // refused before it was understood
		line.Host, line.Target = x.req.Host, x.req.Target
	}
	if s := x.req.Seen; s != nil {
		describeSeen(&line, s)
	}
	if x.route != nil {
		line.Route = x.route.Name
	}
	if x.fromStore() {
		line.TTL = time.Duration(x.ttl) * time.Second
	}
	x.describeOrigin(&line)
	x.describeFields(&line)
	x.identify(&line)
	x.describeUser(&line)
	p.AccessLog.WriteAs(x.settings.LogFormat, &line)
}

// describeSeen says what has come of a request that the front could not read whole.
func describeSeen(line *accesslog.Line, s *message.Seen) {
	line.Method, line.Target, line.Host, line.Protocol = s.Method, s.Target, s.Host, s.Protocol
	if waited := line.Time.Sub(s.Began); !s.Began.IsZero() && waited > 0 {
		line.Time = s.Began
		line.Duration += waited
		line.FirstByte += waited
	}
}

// versionWords are the versions as a request line has them.
var versionWords = [...]string{message.HTTP10: "HTTP/1.0", message.HTTP11: "HTTP/1.1", message.HTTP2: "HTTP/2.0"}

// answeredBy returns the response of the fetch behind the answer to x; nil: there was none, or it has none.
func (x *exchange) answeredBy() *origin.Response {
	if h := x.fetched(); h != nil {
		return h.resp
	}
	if s, ok := x.from.(switched); ok {
		return s.resp
	}
	return x.answered
}

// describeOrigin says which server has answered, and how long it took.
func (x *exchange) describeOrigin(line *accesslog.Line) {
	resp := x.answeredBy()
	if resp == nil {
		line.Origin = x.failed
		return
	}
	line.Origin, line.OriginConnect, line.OriginFirstByte = resp.Server, resp.Connect, resp.FirstByteTime.Sub(resp.RequestTime)
	line.OriginTotal = resp.Body.Took()
}

// logFailure says in the program's own log that x has failed, for whom, and with what. server is
// the address of the server of the origin that was asked, "" where none was.
func (p *Proxy) logFailure(x *exchange, level slog.Level, status int, why reason.Reason, server string, err error) {
	if ctx := context.Background(); p.Log.Enabled(ctx, level) {
		p.Log.LogAttrs(ctx, level, "request failed", x.logAttrs(server, slog.Int("status", status), slog.String("reason", why.String()), slog.Any("error", err))...)
	}
}

// logFailure says in the program's own log that the fetch of f has failed with err, where its clients are answered by a stale
// response, or have been. So they do not log it.
func (f *fill) logFailure(err error) {
	why, server := failureReason(err), ""
	if oe, ok := errors.AsType[*origin.Error](err); ok {
		server = oe.Server
	}
	ctx, level := context.Background(), levelFor(why)
	if !f.p.Log.Enabled(ctx, level) {
		return
	}
	host, target, client := f.request.Host, f.request.Target, ""
	if len(f.resource.Host) > 0 { // what the client asks for, which a route may rewrite
		host, target = string(f.resource.Host), string(f.resource.Target)
	}
	if c := f.request.Client; c.IsSingleIP() {
		client = c.Addr().String()
	} else if c.IsValid() {
		client = c.String()
	}
	f.p.Log.LogAttrs(ctx, level, "fetch failed, a stale response is sent", slog.String("host", host), slog.String("target", target),
		slog.String("route", f.route.Name), slog.String("client", client), slog.String("origin", server), slog.String("reason", why.String()), slog.Any("error", err))
}

// logPanic says which request has panicked with v. The line with the stack, which Panics writes, does not say so. status is
// that of the answer, 0 where none was sent.
func (p *Proxy) logPanic(x *exchange, status int, v any) {
	p.Panics.Quietly(func() { // x may be in any state
		server := ""
		if resp := x.answeredBy(); resp != nil {
			server = resp.Server
		}
		p.logFailure(x, levelFor(reason.Panic), status, reason.Panic, server, &rescue.Error{Value: v})
	})
}

// logCut says that the answer to x broke off with err.
func (p *Proxy) logCut(x *exchange, err error) {
	ctx := context.Background()
	if !p.Log.Enabled(ctx, slog.LevelInfo) {
		return
	}
	server := ""
	if resp := x.answeredBy(); resp != nil {
		server = resp.Server
	}
	p.Log.LogAttrs(ctx, slog.LevelInfo, "response cut off", x.logAttrs(server, slog.Any("error", err))...)
}

// logTunnel says that the tunnel of x ended with an error.
func (p *Proxy) logTunnel(x *exchange, end tunnel.End) {
	if ctx := context.Background(); p.Log.Enabled(ctx, slog.LevelDebug) {
		server := ""
		if resp := x.answeredBy(); resp != nil {
			server = resp.Server
		}
		p.Log.LogAttrs(ctx, slog.LevelDebug, "upgraded connection ended", x.logAttrs(server, slog.String("while", end.While), slog.Any("error", end.Err))...)
	}
}

// logAttrs says which request x is, and then what more there is to say.
func (x *routed) logAttrs(server string, more ...slog.Attr) []slog.Attr {
	client, route := "", ""
	if a := x.ClientAddress(); a.IsValid() {
		client = a.String()
	}
	if x.route != nil {
		route = x.route.Name
	}
	host, target := x.host, x.target.Raw
	if target == nil { // it has panicked before it was understood
		host, target = x.req.Host, x.req.Target
	}
	if id := x.idForLog(); id != "" {
		more = append([]slog.Attr{slog.String("request_id", id)}, more...)
	}
	return append([]slog.Attr{
		slog.String("host", string(host)), slog.String("target", string(target)), slog.String("route", route),
		slog.String("client", client), slog.String("origin", server),
	}, more...)
}
