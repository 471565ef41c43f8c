package proxy

import (
	"testing"

	"edgeproxy/internal/route/setting"
)

// The bounds are eleven standard deviations away.
func TestAccessLogLeavesOutTheShareOfItsRoute(t *testing.T) {
	const requests = 10_000
	f := func(x *exchange, least, most int) {
		t.Helper()
		logged := 0
		for range requests {
			if x.logged() {
				logged++
			}
		}
		if logged < least || logged > most {
			t.Errorf("got %d of %d requests logged, want %d to %d", logged, requests, least, most)
		}
	}
	all, some := &settings{Live: Live{LogSample: 1}}, &settings{Live: Live{LogSample: 0.25}}
	of := func(l setting.Log) *route { return &route{Route: &Route{Log: l}} }
	by := func(s *settings, r *route) *exchange {
		return &exchange{routed: routed{incoming: incoming{settings: s}, route: r}}
	}
	f(by(all, nil), requests, requests)
	f(by(some, nil), 2000, 3000)
	f(by(some, of(setting.Log{Enabled: true, Sample: 1})), requests, requests)
	f(by(all, of(setting.Log{Enabled: true, Sample: 0.25})), 2000, 3000)
	f(by(all, of(setting.Log{Enabled: true})), 0, 0)
	f(by(all, of(setting.Log{Sample: 1})), 0, 0)
}
