package proxy

import (
	"time"

	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/route/client"
)

// withinRate reports whether x comes no sooner than the rate of its route lets its client ask,
// and refuses it otherwise. A client without an address has no rate: all that come by a
// socket in the file system would be one.
func (p *Proxy) withinRate(x *exchange) bool {
	if !x.route.Rate.Bounds() {
		return true
	}
	who, known := client.Of(x.ClientAddress())
	if !known {
		return true
	}
	wait := x.settings.rates.Take(x.route.Rate, who, x.route.metrics.ordinal, x.start)
	if wait == 0 {
		return true
	}
	p.Metrics.overRate.note()
	x.retryAfter = wait
	p.refuse(x, statusTooManyRequests, reason.Rate)
	return false
}

// refundRate takes back what withinRate has counted for x.
func (p *Proxy) refundRate(x *exchange) {
	if who, known := client.Of(x.ClientAddress()); known && x.route.Rate.Bounds() {
		x.settings.rates.Return(x.route.Rate, who, x.route.metrics.ordinal)
	}
}

// seconds is d as Retry-After says it: in whole seconds, at least one (RFC 9110 section
// 10.2.3).
func seconds(d time.Duration) int64 { return max(1, int64((d+time.Second-1)/time.Second)) }
