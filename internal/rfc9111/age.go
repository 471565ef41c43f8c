package rfc9111

import (
	"time"

	"edgeproxy/internal/field"
)

// InitialAge returns the response's age when it was received, from 0 to 2^31
// seconds: corrected_initial_age of RFC 9111 section 4.2.3, the larger of what
// Date shows and of what Age says plus the time the exchange took.
//
// What Date shows counts in whole seconds, as Date does: otherwise a response
// made and received within one second would look up to a second old.
func InitialAge(h field.List, requestTime, responseTime time.Time) time.Duration {
	apparent := clamp(responseTime.Sub(originDate(h, responseTime))).Truncate(time.Second)
	delay := clamp(responseTime.Sub(requestTime))
	return clamp(max(apparent, ageValue(h)+delay))
}

// CurrentAge returns the age at now of a response that had the age initial at
// responseTime, from 0 to 2^31 seconds (RFC 9111 section 4.2.3). A clock that
// went back makes nothing younger than it was.
func CurrentAge(initial time.Duration, responseTime, now time.Time) time.Duration {
	return clamp(clamp(initial) + clamp(now.Sub(responseTime)))
}

// ageValue reads Age: the first member over all its lines, ignored unless it is
// digits only (RFC 9111 section 5.1). Parameters, which Age has not, are passed
// over: that makes a response no younger.
func ageValue(h field.List) time.Duration {
	for i := range h {
		if h[i].Name != "Age" {
			continue
		}
		for member, list := "", h[i].Value; len(list) > 0; {
			if member, list = cutMember(list); member == "" {
				continue
			}
			member = trim(member[:index(member, ';')])
			seconds, _ := digits(member, maxSeconds)
			return time.Duration(seconds) * time.Second
		}
	}
	return 0
}
