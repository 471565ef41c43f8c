package demo

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// passed counts the events of p within d from now.
func passed(p *pace, d time.Duration) int {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	n := 0
	for p.wait(ctx) {
		n++
	}
	return n
}

func TestPaceKeepsItsRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pace{interval: time.Millisecond}
		// At 0 ms, 1 ms and so on; the one at the end may meet either of two timers.
		if got := passed(p, 10*time.Second); got < 10_000 || got > 10_001 {
			t.Errorf("got %d events in 10 s at 1 ms, want 10000 or 10001", got)
		}
	})
}

func TestPaceMakesUpForShortDelaysOnly(t *testing.T) {
	f := func(name string, delay time.Duration, least, most int) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			p := &pace{interval: time.Millisecond}
			p.wait(t.Context())
			time.Sleep(delay) // virtual
			begun, n := time.Now(), 0
			for p.wait(t.Context()) && time.Since(begun) == 0 {
				n++
			}
			if n < least || n > most {
				t.Errorf("%s: got %d events at once, want %d to %d", name, n, least, most)
			}
		})
	}
	f("no delay", 0, 0, 0)
	f("50 ms", 50*time.Millisecond, 50, 50)
	f("a night", 8*time.Hour, 1, 1)
}

func TestPaceEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		p := &pace{interval: time.Hour}
		if !p.wait(ctx) {
			t.Fatal("got no first event, want one at once")
		}
		time.AfterFunc(time.Second, cancel)
		begun := time.Now()
		if p.wait(ctx) {
			t.Error("got an event after the end of the context, want none")
		}
		if got := time.Since(begun); got != time.Second {
			t.Errorf("waited %v, want 1s, until the context ended", got)
		}
		late := &pace{interval: time.Nanosecond}
		if late.wait(ctx) {
			t.Error("got an event that was due, want none: the context has ended")
		}
	})
}
