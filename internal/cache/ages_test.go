package cache

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// aged is an entry whose response came then.
func aged(name string, at time.Time) *Entry {
	e := plain(name, 0, 4000)
	e.ResponseTime = at
	return e
}

// Ages are known of what is evicted, and of nothing else that leaves.
func TestAgesOfWhatIsEvicted(t *testing.T) {
	began := time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC)
	now := began
	reg := prometheus.NewPedanticRegistry()
	s := newStoreOf(t, Options{
		MaxBytes: 1 << 20, MaxObjectBytes: 64 << 10, MaxVariants: 1, StageBytes: 128 << 10, Now: func() time.Time { return now }, Metrics: NewMetrics(reg),
	})
	const staged = "edgeproxy_cache_eviction_age_seconds{reason=capacity,tier=stage}"
	mustPut(t, s, aged("/p", began))
	now = now.Add(time.Hour)
	s.Purge(sum("/p"), []byte("/p"))
	mustPut(t, s, aged("/r", began))
	mustPut(t, s, aged("/r", began))
	if st := s.Stats(); st.CapacityAge != 0 || st.RejectedAge != 0 || st.Stage.CapacityAge != 0 {
		t.Errorf("nothing was evicted: got %+v", st)
	}
	if got, ok := scrape(t, reg)[staged]; ok {
		t.Errorf("nothing was evicted: got a metric, %v", got)
	}
	// One a second: each stays for as many seconds as entries fit.
	for i := range 2000 {
		mustPut(t, s, aged(fmt.Sprint("/m", i), now))
		mustStage(t, s, aged(fmt.Sprint("/s", i), now))
		now = now.Add(time.Second)
	}
	st := s.Stats()
	if st.Capacity+st.Rejected < 1000 || st.Stage.Capacity < 1000 {
		t.Fatalf("too few were evicted: %+v", st)
	}
	if got, want := st.Stage.CapacityAge, time.Duration(st.Stage.Objects)*time.Second; got < want-2*time.Second || got > want+2*time.Second {
		t.Errorf("the stage: got %v, want %v: first in, first out", got, want)
	}
	if got := scrape(t, reg)[staged]; got != st.Stage.CapacityAge.Seconds() {
		t.Errorf("got the metric %v, want %v", got, st.Stage.CapacityAge)
	}
	for _, c := range []struct {
		cause string
		count int64
		age   time.Duration
	}{{"capacity", st.Capacity, st.CapacityAge}, {"rejected", st.Rejected, st.RejectedAge}} {
		if (c.age > 0) != (c.count > 0) || c.age > 2000*time.Second { // ristretto may reject none
			t.Errorf("%s: got %v of %d", c.cause, c.age, c.count)
		}
	}
}

// A moving mean follows what has changed, and forgets how it was.
func TestMeanOfAgesFollows(t *testing.T) {
	var a ages
	for range 10 {
		a.note(time.Minute)
	}
	if got := time.Duration(a.mean.Load()); got != time.Minute {
		t.Errorf("got %v, want a minute", got)
	}
	a.note(12 * time.Minute)
	if got := time.Duration(a.mean.Load()); got != 2*time.Minute {
		t.Errorf("got %v, want the mean of eleven, two minutes", got)
	}
	for range 1000 {
		a.note(time.Second)
	}
	if got := time.Duration(a.mean.Load()); got < time.Second || got > 1100*time.Millisecond {
		t.Errorf("got %v, want a second", got)
	}
	a.note(-time.Hour) // a clock that went back
	if got := time.Duration(a.mean.Load()); got < 900*time.Millisecond {
		t.Errorf("got %v, want nearly a second", got)
	}
}

// An entry without a time is in no mean, and without a clock there is none.
func TestAgesThatAreNotKnown(t *testing.T) {
	f := func(name string, now func() time.Time, at time.Time) {
		t.Helper()
		s := newStoreOf(t, Options{MaxBytes: 1 << 20, MaxObjectBytes: 64 << 10, MaxVariants: 1, Now: now})
		for i := range 1000 {
			mustPut(t, s, aged(fmt.Sprint("/", i), at))
		}
		if st := s.Stats(); st.Capacity+st.Rejected == 0 || st.CapacityAge != 0 || st.RejectedAge != 0 {
			t.Errorf("%s: got %+v", name, st)
		}
	}
	f("without a clock", nil, time.Now())
	f("without times", time.Now, time.Time{})
}
