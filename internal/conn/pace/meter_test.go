package pace

import (
	"testing"
	"time"
)

func TestMeter(t *testing.T) {
	type step struct {
		bytes  int
		waited time.Duration
		slow   bool
	}
	f := func(name string, r Rate, steps ...step) {
		t.Run(name, func(t *testing.T) {
			m := NewMeter(r)
			for i, s := range steps {
				if got := m.Add(s.bytes, s.waited); got != s.slow {
					t.Fatalf("step %d, %d bytes in %v: slow %v, want %v", i, s.bytes, s.waited, got, s.slow)
				}
			}
		})
	}
	minute := Rate{Bytes: 1000, Over: time.Minute}
	f("trickles", minute, step{1, 30 * time.Second, false}, step{998, 29 * time.Second, false}, step{0, time.Second, true})
	f("just so", minute, step{999, 59 * time.Second, false}, step{1, time.Second, false}, step{0, 59 * time.Second, false})
	f("fast bytes are no credit", minute, step{1 << 30, time.Second, false}, step{999, time.Minute, true})
	f("nobody waited", minute, step{1, 0, false}, step{1, 0, false})
	f("off", Rate{}, step{0, time.Hour, false}, step{1, 24 * time.Hour, false})
}

func TestMeterLeft(t *testing.T) {
	m := NewMeter(Rate{Bytes: 10, Over: time.Minute})
	f := func(want time.Duration) {
		t.Helper()
		if left, ok := m.Left(); left != want || !ok {
			t.Errorf("left: got %v %v, want %v", left, ok, want)
		}
	}
	f(time.Minute)
	m.Add(1, 20*time.Second)
	f(40 * time.Second)
	m.Add(1, time.Minute)
	f(0)
	m.Add(8, 0)
	f(time.Minute)
	var off Meter
	if _, ok := off.Left(); ok {
		t.Error("without a rate: a period ends")
	}
}
