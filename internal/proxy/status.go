package proxy

import (
	"time"

	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/http/statusclass"
)

// Status is what a Proxy has done since its start, as GET /status of the admin listener gives
// it.
type Status struct {
	RequestsInFlight int64            `json:"requests_in_flight"`
	InflightBytes    int64            `json:"inflight_bytes"`
	Flights          int              `json:"flights"`
	Panics           int64            `json:"panics"`
	Purges           PurgeStatus      `json:"purges"`
	Totals           RouteStatus      `json:"totals"`
	Routes           []RouteStatus    `json:"routes"`
	NotStored        map[string]int64 `json:"not_stored"`

	// NotStoredCookies counts responses that were not stored by the cookies of their requests that are neither stripped nor in the key:
	// those that come most often, at most 32.
	NotStoredCookies map[string]int64 `json:"not_stored_cookies,omitempty"`
}

// PurgeStatus is what was purged since the start.
type PurgeStatus struct {
	// Count is the number of URLs, prefixes, hosts, tags and groups purged, once for
	// each time, and of purges of all. However many marks a value takes, it counts once.
	Count uint64 `json:"count"`
	// Folded counts purges that had to make room for later ones and take more than
	// they were for since.
	Folded uint64 `json:"folded"`
	// Sweeps counts how often all that is stored was held against the marks of purges, so
	// that these could go.
	Sweeps int64 `json:"sweeps"`
}

func (p *Proxy) purgeStatus() PurgeStatus {
	s := p.Purges.Stats()
	return PurgeStatus{Count: p.purgeCount.Load(), Folded: s.Folded, Sweeps: p.settler.count.Load()}
}

// RouteStatus is what has become of the requests of one route, or of all.
// Ratios are in [0, 1], and 0 before the first request.
type RouteStatus struct {
	Route         string           `json:"route,omitempty"`
	Policy        string           `json:"policy,omitempty"`
	Requests      int64            `json:"requests"`
	Results       map[string]int64 `json:"results"`
	ResultBytes   map[string]int64 `json:"result_bytes"`   // bytes of bodies, by result
	Classes       map[string]int64 `json:"status_classes"` // none, 1xx to 5xx, as the label status of edgeproxy_requests_total
	ResponseBytes int64            `json:"response_bytes"`
	HitRatio      float64          `json:"hit_ratio"`
	ByteHitRatio  float64          `json:"byte_hit_ratio"`
	Collapsed     int64            `json:"collapsed"`
	Fills         Fills            `json:"fills"`
	Lately        Lately           `json:"lately"`    // since a minute ago, or what StatusSince was given
	LastHour      Avoided          `json:"last_hour"` // the same of an hour
}

// Fills are fetches of a GET that asked the cache and got a response. While none is under way,
// Storable = Stored + HeldBack + Refused.
type Fills struct {
	Storable      int64 `json:"storable"`
	NotStorable   int64 `json:"not_storable"`
	Stored        int64 `json:"stored"`
	Refused       int64 `json:"refused"`
	HeldBack      int64 `json:"held_back"`
	HeldBackBytes int64 `json:"held_back_bytes"`
	Regret        int64 `json:"regret"`
	RegretBytes   int64 `json:"regret_bytes"`
	Promoted      int64 `json:"promoted"`
	PromotedBytes int64 `json:"promoted_bytes"`

	// Saved estimates the writes avoided against the policy always: HeldBack -
	// Regret - Promoted, without regard to what either cache would have evicted.
	// It leaves out policies whose regret is not measured (policy.Remembers).
	Saved      int64 `json:"saved"`
	SavedBytes int64 `json:"saved_bytes"`
}

// add adds the counts of a route.
func (f *Fills) add(c *fillCounts) {
	held, heldBytes := c.heldBack.Load(), c.heldBackBytes.Load()
	regret, regretBytes := c.regret.Load(), c.regretBytes.Load()
	promoted, promotedBytes := c.promoted.Load(), c.promotedBytes.Load()
	f.Storable += c.storable.Load()
	f.NotStorable += c.notStorable.Load()
	f.Stored += c.stored.Load()
	f.Refused += c.refused.Load()
	f.HeldBack += held
	f.HeldBackBytes += heldBytes
	f.Regret += regret
	f.RegretBytes += regretBytes
	f.Promoted += promoted
	f.PromotedBytes += promotedBytes
	f.Saved += held - c.unjudged.Load() - regret - promoted
	f.SavedBytes += heldBytes - c.unjudgedBytes.Load() - regretBytes - promotedBytes
}

// tally adds up results.
type tally struct {
	requests, bytes [resultCount]int64
	classes         statusclass.Counts
	meant           int64 // statuses of 5xx that were meant
	times           times // to the end of the answer
	collapsed       int64
	fills           Fills
}

func (t *tally) add(r *routeMetrics) {
	for i := range r.requests {
		for class := range r.requests[i] {
			n := r.requests[i][class].Load()
			t.requests[i] += n
			t.classes[class] += n
		}
		t.bytes[i] += r.bytes[i].Load()
		t.times.add(&r.duration[i])
	}
	t.meant += r.meant.Load()
	t.collapsed += r.collapsed.Load()
	t.fills.add(&r.fills)
}

// status works out the ratios: (hit + stale + revalidated) over everything but error.
func (t *tally) status() RouteStatus {
	s := RouteStatus{Results: map[string]int64{}, ResultBytes: map[string]int64{}, Classes: t.classes.Map(), Collapsed: t.collapsed, Fills: t.fills}
	for i := range resultCount {
		s.Results[i.String()], s.ResultBytes[i.String()] = t.requests[i], t.bytes[i]
		s.Requests += t.requests[i]
		s.ResponseBytes += t.bytes[i]
	}
	s.HitRatio = ratio(fromStore(&t.requests), judged(&t.requests))
	s.ByteHitRatio = ratio(fromStore(&t.bytes), judged(&t.bytes))
	return s
}

func ratio(part, whole int64) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// Status is StatusSince without a time before, so that Lately and LastHour are 0.
func (p *Proxy) Status() Status { return p.StatusSince(Counts{}, AvoidedCounts{}) }

// StatusSince returns the counts of now, and what has come since minute and hour. They are read while requests go on, so a sum may differ
// from its parts by the requests under way.
func (p *Proxy) StatusSince(minute Counts, hour AvoidedCounts) Status {
	s := Status{
		RequestsInFlight: p.inFlight.Load(), InflightBytes: p.bodiesOnTheirWay(), Flights: p.flights.Len(),
		Panics: p.Panics.Count(), Purges: p.purgeStatus(), NotStored: map[string]int64{},
		NotStoredCookies: p.cookies.counts(),
	}
	c := p.Counts()
	for i, v := range c.all.notStored {
		if v > 0 {
			s.NotStored[reason.Reason(i).String()] = v
		}
	}
	var over time.Duration // 0: there was no time before
	if !minute.At.IsZero() {
		over = c.At.Sub(minute.At)
	}
	of := func(t, before *tally, avoided Avoided) RouteStatus {
		rs := t.status()
		rs.Lately = t.lately(before, over)
		if !hour.At.IsZero() {
			rs.LastHour = t.avoided().since(avoided)
		}
		return rs
	}
	for _, r := range p.settings.Load().routes {
		one, before := c.routes[r.Name], minute.routes[r.Name]
		rs := of(&one, &before, hour.routes[r.Name])
		rs.Route, rs.Policy = r.Name, r.Rule.Policy.String()
		s.Routes = append(s.Routes, rs)
	}
	s.Totals = of(&c.all.tally, &minute.all.tally, hour.all)
	return s
}
