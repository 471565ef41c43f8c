package accesslog

import (
	"net/netip"
	"time"
)

// Line is what the log says of one request; Fields lists what each part is called.
//
// Scheme, Protocol, Result, Reason, Route and Origin are words of ours, without control
// characters, quotes and backslashes: they are written as they are.
// Host, Target, Method, UserAgent, Referer, RequestID, TraceID and User are bytes from the client
// and may hold anything. The bytes stay the caller's: Write has copied them when it returns.
type Line struct {
	// Time is when the request was received, in any time zone.
	Time time.Time
	// Client is the address of the client. An IPv4 address mapped into IPv6 is
	// written as IPv4; the zero Addr as "".
	Client netip.Addr
	// Host, Target and Method are the client's Host, raw request target and
	// method.
	Host, Target, Method []byte
	// Scheme is http or https. Protocol is the version in the words of a request line, such
	// as HTTP/1.1; "" if it is not known.
	Scheme, Protocol string
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
	// Duration runs from Time to the last byte sent, FirstByte to the first one, 0 if none
	// was. Both are written in seconds, rounded to a microsecond.
	Duration, FirstByte time.Duration
	// Sightings is how often the key was asked for within the window, this request
	// included, as the counting policy estimates it; 0 with other policies.
	Sightings int
	// TTL is the freshness that was left of a stored response when it became the answer,
	// below 0 where it was stale; 0 of other answers. It is written in whole seconds.
	TTL time.Duration
	// Origin is the address of the server that answered the fetch behind the answer; "":
	// there was no fetch, or no server has answered.
	Origin string
	// OriginConnect is the time it took to connect, with TLS; 0: the connection was there.
	// OriginFirstByte runs from sending the request to the first byte of the response,
	// OriginTotal to its last one; 0 while that is to come. They are written like Duration.
	OriginConnect, OriginFirstByte, OriginTotal time.Duration
	// UserAgent, Referer and RequestID are the values of User-Agent, Referer and
	// X-Request-Id, TraceID is that of a valid traceparent, or of the trace that begins with
	// the request; nil without.
	UserAgent, Referer, RequestID, TraceID []byte
	// User is the name in the credentials, where the route asks for some; nil without.
	User []byte
}

// appendAddr exists because AppendTo writes "invalid IP" for the zero Addr.
func appendAddr(b []byte, a netip.Addr) []byte {
	if !a.IsValid() {
		return b
	}
	return a.Unmap().AppendTo(b)
}
