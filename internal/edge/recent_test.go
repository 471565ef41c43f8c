package edge

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"edgeproxy/internal/proxy"
)

func plainly(step func()) { step() }

func TestLatelyIsAMinuteOrALittleMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var count atomic.Int64
		l := newRecentCounts(func() countSnapshot {
			return countSnapshot{at: time.Now(), limits: map[string]int64{"n": count.Load()}}
		}, plainly)
		defer l.close()
		f := func(wait, least, most time.Duration, counted int64) {
			t.Helper()
			time.Sleep(wait)
			synctest.Wait()
			since := l.since(time.Now())
			if past := time.Since(since.at); past < least || past > most {
				t.Errorf("got the last %v, want %v to %v", past, least, most)
			}
			if got := count.Load() - since.limits["n"]; got != counted {
				t.Errorf("got %d lately, want %d", got, counted)
			}
		}
		f(0, 0, 0, 0)
		count.Add(5)
		f(3*time.Second, 3*time.Second, 3*time.Second, 5) // since the start
		f(56*time.Second, 59*time.Second, 59*time.Second, 5)
		f(12*time.Second, time.Minute, 70*time.Second, 0)
		count.Add(2)
		f(time.Second, time.Minute, 70*time.Second, 2)
		f(58*time.Second, time.Minute, 70*time.Second, 2)
		f(time.Hour, time.Minute, 70*time.Second, 0)
		if got := len(l.snapshots); got != snapshotsKept {
			t.Errorf("got %d notes, want %d", got, snapshotsKept)
		}
	})
}

// A proxy that has not started, or that has stopped, has a status all the same.
func TestLatelyOfNothing(t *testing.T) {
	var none *recentCounts
	none.close()
	now := time.Now()
	if got := none.sinceHour(); !got.At.IsZero() {
		t.Errorf("got an hour from %v", got.At)
	}
	if got := none.since(now); got.at != now || got.limits["x"] != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestTheLastHourIsAnHourOrALittleMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newRecentCounts(func() countSnapshot { return countSnapshot{at: time.Now(), requests: proxy.Counts{At: time.Now()}} }, plainly)
		defer l.close()
		f := func(wait, least, most time.Duration) {
			t.Helper()
			time.Sleep(wait)
			synctest.Wait()
			if past := time.Since(l.sinceHour().At); past < least || past > most {
				t.Errorf("got the last %v, want %v to %v", past, least, most)
			}
		}
		f(time.Minute, time.Minute, time.Minute) // since the start
		f(58*time.Minute, 59*time.Minute, 59*time.Minute)
		for range 24 {
			f(7*time.Minute, time.Hour, time.Hour+hourEvery)
		}
		if got := len(l.hours); got != hoursKept {
			t.Errorf("got %d notes, want %d", got, hoursKept)
		}
	})
}
