package main

import (
	"slices"
	"testing"
	"time"

	"edgeproxy/internal/test/testkit"
)

func TestEdgeDiesWithAKilledDriver(t *testing.T) {
	alive := lifeline(t)
	cmd := startDriver(t, t.TempDir())
	conn := alive.accept(t)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	gone(t, conn)
}

// TestPauseEndsNearItsTime: a pause is seldom later than a timer of the same length, since that would count as the proxy's latency.
func TestPauseEndsNearItsTime(t *testing.T) {
	testkit.Alone(t, "it compares how late a pause ends with how late a timer does")
	const wait = 3 * time.Millisecond
	late := func(sleep func()) time.Duration {
		var all []time.Duration
		for range 101 {
			start := time.Now()
			sleep()
			all = append(all, time.Since(start)-wait)
		}
		slices.Sort(all)
		return all[len(all)/2]
	}
	paused := late(func() {
		for start := time.Now(); time.Since(start) < wait; {
			pause(t.Context(), wait-time.Since(start))
		}
	})
	slept := late(func() { time.Sleep(wait) })
	t.Logf("median lateness: a pause %v, a timer %v", paused, slept)
	if paused < 0 || paused > slept+time.Millisecond {
		t.Errorf("half of the pauses end more than %v late, half of the timers %v", paused, slept)
	}
}
