package accesslog

// Field is one field of a line.
type Field struct {
	// Name is the key in JSON, and the name in braces in a template.
	Name string
	// About describes the value and its unit.
	About string
}

// id is the index of a field in fields.
type id uint8

// The fields in their order in JSON. Those up to client are the oldest. Programs that read
// columns rely on their order.
const (
	fieldTime id = iota
	fieldHost
	fieldTarget
	fieldMethod
	fieldStatus
	fieldBytes
	fieldResult
	fieldReason
	fieldRoute
	fieldDuration
	fieldFirstByte
	fieldClient
	fieldScheme
	fieldProtocol
	fieldSightings
	fieldTTL
	fieldUserAgent
	fieldReferer
	fieldRequestID
	fieldTraceID
	fieldUser
	fieldOrigin
	fieldOriginConnect
	fieldOriginFirstByte
	fieldOriginTotal
)

// fields is the table of all fields. A test compares it with docs/operating/watch.md.
var fields = [...]Field{
	fieldTime:            {"time", "receipt of the request, RFC 3339 in UTC, microseconds"},
	fieldHost:            {"host", "requested host, as in the cache key"},
	fieldTarget:          {"target", "target of the request as it came"},
	fieldMethod:          {"method", "method of the request"},
	fieldStatus:          {"status", "status sent; 0 if none was"},
	fieldBytes:           {"bytes", "body bytes sent; of a hit those handed to the connection, which is all of them even if the client leaves or is cut"},
	fieldResult:          {"result", "result of the request: hit, stale, revalidated, miss, held_back, pass or error"},
	fieldReason:          {"reason", "why the response was not stored or not served from the cache; empty if there is nothing to explain"},
	fieldRoute:           {"route", "name of the route; empty if none matched"},
	fieldDuration:        {"duration", "seconds from receipt to the end; a hit ends when it was handed to the connection, not when the client had it"},
	fieldFirstByte:       {"first_byte", "seconds from receipt to the first byte sent"},
	fieldClient:          {"client", "address of the peer, or of the client that a trusted peer reports"},
	fieldScheme:          {"scheme", "http or https, as the client used it"},
	fieldProtocol:        {"protocol", "version of HTTP that the client speaks, such as HTTP/1.1"},
	fieldSightings:       {"sightings", "how often the key was requested within the window, this request included, as the counting policy estimates it; 0 with other policies"},
	fieldTTL:             {"ttl", "seconds of freshness left when a stored response was sent, below 0 if it was stale; 0 of other responses"},
	fieldUserAgent:       {"user_agent", "User-Agent of the request"},
	fieldReferer:         {"referer", "Referer of the request"},
	fieldRequestID:       {"request_id", "X-Request-Id of the request; on a route that uses {request_id}, and without a route if `headers.generated` at the top does, the id that this gives the request"},
	fieldTraceID:         {"trace_id", "trace id of the request's traceparent, if that is valid (W3C Trace Context), else of the trace that begins here, if the request is traced"},
	fieldUser:            {"user", "user name in the request's credentials, on a route with basic_auth; with a 401 the name that was tried"},
	fieldOrigin:          {"origin", "address of the server that answered the fetch behind the response, also if requests share it; empty without a fetch, and for slices"},
	fieldOriginConnect:   {"origin_connect", "seconds that a new connection took, TLS included; 0 if an open one was used"},
	fieldOriginFirstByte: {"origin_first_byte", "seconds from sending that fetch to the first byte of its response"},
	fieldOriginTotal:     {"origin_total", "seconds from sending it to the last byte of its response; 0 if that had not come yet"},
}

// Fields returns all fields, in their order in JSON.
func Fields() []Field { return append([]Field(nil), fields[:]...) }

// fieldNamed returns the field with this name.
func fieldNamed(name string) (id, bool) {
	for i := range fields {
		if fields[i].Name == name {
			return id(i), true
		}
	}
	return 0, false
}
