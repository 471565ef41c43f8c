package rfc9111

import (
	"time"

	"edgeproxy/internal/http/field"
)

// InitialAge returns the response's age when it was received, from 0 to 2^31
// seconds: corrected_initial_age of RFC 9111 section 4.2.3, the larger of the age
// by Date, and of Age plus the duration of the exchange.
//
// The age by Date is truncated to whole seconds, the resolution of Date. Otherwise
// a response made and received within one second would look up to a second old.
func InitialAge(h field.List, requestTime, responseTime time.Time) time.Duration {
	apparent := clamp(responseTime.Sub(originDate(h, responseTime))).Truncate(time.Second)
	delay := clamp(responseTime.Sub(requestTime))
	return clamp(max(apparent, ageValue(h)+delay))
}

// CurrentAge returns the age at now of a response that had the age initial at
// responseTime, from 0 to 2^31 seconds (RFC 9111 section 4.2.3). If the clock went
// back, the response does not become younger than initial.
func CurrentAge(initial time.Duration, responseTime, now time.Time) time.Duration {
	return clamp(clamp(initial) + clamp(now.Sub(responseTime)))
}

// ageValue reads Age: the first member over all its lines, ignored unless it is
// digits only (RFC 9111 section 5.1). Age has no parameters; any that are there are
// skipped, which never makes a response younger.
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
