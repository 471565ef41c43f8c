package proxy

import "testing"

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
	all := &settings{}
	some := &settings{Live: Live{Unlogged: 0.75}}
	f(&exchange{routed: routed{incoming: incoming{settings: all}}}, requests, requests)
	f(&exchange{routed: routed{incoming: incoming{settings: some}}}, 2000, 3000)
	f(&exchange{routed: routed{incoming: incoming{settings: some}, route: &route{Route: &Route{}}}}, requests, requests)
	f(&exchange{routed: routed{incoming: incoming{settings: all}, route: &route{Route: &Route{Unlogged: 0.75}}}}, 2000, 3000)
	f(&exchange{routed: routed{incoming: incoming{settings: all}, route: &route{Route: &Route{Unlogged: 1}}}}, 0, 0)
}
