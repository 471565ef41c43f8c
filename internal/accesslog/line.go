package accesslog

import (
	"net/netip"
	"time"

	"github.com/rs/zerolog"
)

// timeLayout is RFC 3339 with microseconds, for times in UTC.
const timeLayout = "2006-01-02T15:04:05.000000Z"

// Line is what the log says of one request. The keys in JSON and their order:
//
//	time        RFC 3339 in UTC, always with six digits of microseconds
//	host        text
//	target      text
//	method      text
//	status      number
//	bytes       number
//	result      text
//	reason      text
//	route       text
//	duration    number, seconds
//	first_byte  number, seconds
//	client      text
//
// Every key is in every line, in this order, so that a reader of columns needs
// no special case: what does not apply is "" or 0.
//
// Host, Target and Method are bytes from the client and may hold anything. Text
// that is valid UTF-8 is read back exactly; each byte that is not becomes one
// U+FFFD, the same as encoding/json does. The bytes stay the caller's: Write
// has copied them when it returns.
type Line struct {
	// Time is when the request was received, in any time zone.
	Time time.Time
	// Host, Target and Method are the client's Host, raw request target and
	// method.
	Host, Target, Method []byte
	// Status is the status code sent to the client, 0 if none was.
	Status int
	// Bytes is the number of body bytes sent to the client.
	Bytes int64
	// Result is the one word for the outcome: hit, miss, pass and so on.
	Result string
	// Reason is the one word for why the response was not stored or not served
	// from the cache, "" if there is nothing to explain.
	Reason string
	// Route is the name of the route that matched, "" if none did.
	Route string
	// Duration runs from Time to the last byte sent. It is written in seconds,
	// rounded to a microsecond.
	Duration time.Duration
	// FirstByte runs from Time to the first byte sent, 0 if none was; written
	// like Duration.
	FirstByte time.Duration
	// Client is the address of the client. An IPv4 address mapped into IPv6 is
	// written as IPv4; the zero Addr as "".
	Client netip.Addr
}

// encode adds the fields of the line to e.
func (l *Line) encode(e *zerolog.Event) {
	var scratch [64]byte
	e.Bytes("time", l.Time.UTC().AppendFormat(scratch[:0], timeLayout)).
		Bytes("host", l.Host).
		Bytes("target", l.Target).
		Bytes("method", l.Method).
		Int("status", l.Status).
		Int64("bytes", l.Bytes).
		Str("result", l.Result).
		Str("reason", l.Reason).
		Str("route", l.Route).
		Float64("duration", seconds(l.Duration)).
		Float64("first_byte", seconds(l.FirstByte)).
		Bytes("client", appendAddr(scratch[:0], l.Client))
}

// seconds rounds to microseconds, which keeps the number short and free of an
// exponent.
func seconds(d time.Duration) float64 {
	return d.Round(time.Microsecond).Seconds()
}

// appendAddr exists because AppendTo writes "invalid IP" for the zero Addr.
func appendAddr(b []byte, a netip.Addr) []byte {
	if !a.IsValid() {
		return b
	}
	return a.Unmap().AppendTo(b)
}
