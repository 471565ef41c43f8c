package accesslog

import (
	"net/netip"
	"time"
)

// Line is one request in the log. Fields lists the names of its fields.
//
// Scheme, Protocol, Result, Reason, Route and Origin are edgeproxy's own words, without control
// characters, quotes and backslashes. They are written unescaped.
// Host, Target, Method, UserAgent, Referer, RequestID, TraceID and User are bytes from the client
// and may hold anything. The caller owns the bytes: Write copies them before it returns.
type Line struct {
	// Time is when the request was received, in any time zone.
	Time time.Time
	// Client is the address of the client. An IPv4 address mapped into IPv6 is
	// written as IPv4; the zero Addr as "".
	Client netip.Addr
	// Host, Target and Method are the client's Host, raw request target and
	// method.
	Host, Target, Method []byte
	// Scheme is http or https. Protocol is the version as in a request line, such as
	// HTTP/1.1; "" if it is unknown.
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
	// Sightings is how often the key was requested within the window, this request
	// included, as the counting policy estimates it; 0 with other policies.
	Sightings int
	// TTL is the freshness left when a stored response was sent, below 0 if it was stale; 0
	// for other responses. It is written in whole seconds.
	TTL time.Duration
	// Origin is the address of the server that answered the fetch behind the response; "":
	// there was no fetch, or no server has answered.
	Origin string
	// OriginConnect is the time to connect, TLS included; 0: an open connection was used.
	// OriginFirstByte runs from sending the request to the first byte of the response,
	// OriginTotal to its last byte; 0 if that has not come yet. They are written like Duration.
	OriginConnect, OriginFirstByte, OriginTotal time.Duration
	// UserAgent, Referer and RequestID are the values of User-Agent, Referer and
	// X-Request-Id. TraceID is the trace id of a valid traceparent, or of the trace that
	// begins with the request. Each is nil if there is none.
	UserAgent, Referer, RequestID, TraceID []byte
	// User is the user name in the credentials, on a route with basic_auth; nil if there is none.
	User []byte
}

// appendAddr appends an address, and nothing for the zero Addr. AppendTo would write "invalid IP".
func appendAddr(b []byte, a netip.Addr) []byte {
	if !a.IsValid() {
		return b
	}
	return a.Unmap().AppendTo(b)
}
