package proxy

import "time"

// Status codes (RFC 9110 section 15), as far as they are looked at or given here.
const (
	statusContinue           = 100
	statusSwitchingProtocols = 101

	statusOK             = 200
	statusNoContent      = 204
	statusPartialContent = 206

	statusNotModified = 304

	statusBadRequest                   = 400
	statusUnauthorized                 = 401
	statusForbidden                    = 403
	statusNotFound                     = 404
	statusMethodNotAllowed             = 405
	statusRequestTimeout               = 408
	statusGone                         = 410
	statusPreconditionFailed           = 412
	statusRequestEntityTooLarge        = 413
	statusRequestURITooLong            = 414
	statusRequestedRangeNotSatisfiable = 416
	statusExpectationFailed            = 417
	statusTooManyRequests              = 429
	statusRequestHeaderFieldsTooLarge  = 431

	// statusNoAnswer is that of a route which ends the connection without an answer, as in nginx. It is recorded and never sent.
	statusNoAnswer = 444

	statusInternalServerError = 500
	statusBadGateway          = 502
	statusServiceUnavailable  = 503
	statusGatewayTimeout      = 504
	statusLoopDetected        = 508 // RFC 5842 section 7.2

	// statusClientGone is recorded for a request whose client has left before it was answered, as
	// nginx does. Only a client that has ended nothing but its own side can get it.
	statusClientGone = 499
)

// statusTexts says in words what our own answers mean.
var statusTexts = map[int]string{
	statusOK:                          "OK",
	statusBadRequest:                  "Bad Request",
	statusUnauthorized:                "Unauthorized",
	statusForbidden:                   "Forbidden",
	statusNotFound:                    "Not Found",
	statusMethodNotAllowed:            "Method Not Allowed",
	statusRequestTimeout:              "Request Timeout",
	statusRequestEntityTooLarge:       "Request Entity Too Large",
	statusRequestURITooLong:           "Request URI Too Long",
	statusExpectationFailed:           "Expectation Failed",
	statusTooManyRequests:             "Too Many Requests",
	statusRequestHeaderFieldsTooLarge: "Request Header Fields Too Large",
	statusInternalServerError:         "Internal Server Error",
	statusBadGateway:                  "Bad Gateway",
	statusServiceUnavailable:          "Service Unavailable",
	statusGatewayTimeout:              "Gateway Timeout",
	statusLoopDetected:                "Loop Detected",
}

func statusText(status int) string {
	if text, ok := statusTexts[status]; ok {
		return text
	}
	return "Unknown Status Code"
}

// appendDate appends t as a date of HTTP (RFC 9110 section 5.6.7).
func appendDate(b []byte, t time.Time) []byte {
	return t.UTC().AppendFormat(b, "Mon, 02 Jan 2006 15:04:05 GMT")
}
