package origin

import (
	"strconv"
	"strings"
	"time"

	"edgeproxy/internal/http/field"
)

// persistent reports whether the origin means to keep the connection open after
// h (RFC 9112 section 9.3). HTTP/1.0 never does: its keep-alive was a private
// agreement, and we do not ask for it.
func persistent(h *head) bool {
	return h.minor != 0 && !h.connectionOption("close")
}

// keepFor returns how long to keep the connection after a response with the
// given fields: limit, or less where Keep-Alive: timeout=N says so (RFC 2068
// section 19.7.1.1). One second less than the origin waits, so that it is we
// who close; 0 or below means not to keep it.
func keepFor(fields field.List, limit time.Duration) time.Duration {
	value, ok := fields.Get("Keep-Alive")
	if !ok {
		return limit
	}
	for parameter := range strings.SplitSeq(value, ",") {
		name, number, _ := strings.Cut(strings.Trim(parameter, " \t"), "=")
		if !strings.EqualFold(name, "timeout") {
			continue
		}
		// The bit size keeps the product below within a Duration.
		n, err := strconv.ParseInt(number, 10, 32)
		if err == nil && n >= 0 {
			return min(limit, time.Duration(n-1)*time.Second)
		}
	}
	return limit
}
