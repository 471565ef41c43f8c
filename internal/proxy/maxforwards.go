package proxy

import (
	"strconv"

	"edgeproxy/internal/http/field"
)

// Max-Forwards says how many proxies may forward an OPTIONS request (RFC 9110 section 7.6.2). With other methods it says nothing; TRACE is
// refused.
const headerMaxForwards = "Max-Forwards"

// allowedMethods is the value of Allow in answers of our own.
const allowedMethods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"

func (x *exchange) asksOptions() bool { return string(x.method) == "OPTIONS" }

// answeredAsLast answers an OPTIONS request that no proxy may forward any more, and reports whether x is one.
func (x *exchange) answeredAsLast() bool {
	if !x.asksOptions() {
		return false
	}
	for _, line := range x.fieldLines(headerMaxForwards) {
		if n, err := strconv.ParseUint(string(line), 10, 64); err == nil && n == 0 {
			x.answerText(statusOK, resultPass)
			return true
		}
	}
	return false
}

// countForward takes one off each Max-Forwards of a request that is forwarded. A value that is no number stays.
func countForward(list field.List) {
	for i := range list {
		if list[i].Name != headerMaxForwards {
			continue
		}
		if n, err := strconv.ParseUint(list[i].Value, 10, 64); err == nil && n > 0 {
			list[i].Value = strconv.FormatUint(n-1, 10)
		}
	}
}
