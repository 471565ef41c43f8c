package edge

import (
	"context"
	"log/slog"
	"runtime/debug"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"edgeproxy/config"
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
		time.Sleep(10 * time.Minute) // ten minutes of the bubble's clock
		cancel()
		<-done
		if want := []int64{70, 120}; !slices.Equal(set, want) {
			t.Errorf("got %v, want %v", set, want)
		}
	})
}

func TestMemoryLimitHasRoomForEveryEdge(t *testing.T) {
	was := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(was) })
	t.Setenv("GOMEMLIMIT", "")
	c, err := config.FromFlags(config.Flags{Origin: "http://127.0.0.1:9", Listen: "127.0.0.1:0", Admin: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	c.Cache.Memory = config.Memory{MaxBytes: 8 * config.MiB, MaxObjectBytes: config.MiB}
	c.Cache.Disk = config.Disk{Paths: []string{t.TempDir()}, MaxBytes: 32 * config.MiB, MaxObjectBytes: config.MiB}
	c.Limits.InflightBytes = 16 * config.MiB
	e := built(t, c, Options{})
	defer LimitMemory(slog.New(slog.DiscardHandler), e, e)()
	least := 2*(int64(24*config.MiB)+e.gate.MostBytes()) + memoryBase
	if got := debug.SetMemoryLimit(-1); e.gate.MostBytes() == 0 || got < least {
		t.Errorf("got a limit of %d bytes, want at least %d with filters of %d", got, least, e.gate.MostBytes())
	}
}
