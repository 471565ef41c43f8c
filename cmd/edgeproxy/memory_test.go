package main

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestSoftLimitOfMemoryLeavesATenthOfTheCgroup(t *testing.T) {
	f := func(most, cgroup, want int64) {
		t.Helper()
		if got := softLimit(most, cgroup); got != want {
			t.Errorf("settings %d, cgroup %d: got %d, want %d", most, cgroup, got, want)
		}
	}
	f(500, 0, 500)
	f(500, 1000, 500)
	f(500, 400, 360)
}

func TestMemoryLimitFollowsTheCgroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		limits := []int64{100, 100, 70, 70, 120}
		var set []int64
		done := make(chan struct{})
		go func() {
			defer close(done)
			followCgroup(ctx, time.Minute, 100, func() int64 {
				now := limits[0]
				limits = limits[min(1, len(limits)-1):]
				return now
			}, func(now int64) { set = append(set, now) })
		}()
		time.Sleep(10 * time.Minute) // of the bubble's clock
		cancel()
		<-done
		if want := []int64{70, 120}; !slices.Equal(set, want) {
			t.Errorf("got %v, want %v", set, want)
		}
	})
}
