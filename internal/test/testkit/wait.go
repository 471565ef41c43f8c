package testkit

import (
	"testing"
	"time"
)

// Patience is how long a test waits for what must come. It only keeps a broken program
// from hanging the tests: waits end by what they wait for.
const Patience = 30 * time.Second

// Eventually waits for what the system, or another goroutine or process, does.
func Eventually(tb testing.TB, what string, done func() bool) {
	tb.Helper()
	if !ComesTrue(done) {
		tb.Fatalf("never came true: %s", what)
	}
}

// ComesTrue asks again and again until done or out of patience, at first after a millisecond and then ever more seldom: where many
// tests wait, asking is work.
func ComesTrue(done func() bool) bool {
	end := time.Now().Add(Patience)
	pause := time.Millisecond
	for !done() {
		if time.Now().After(end) {
			return false
		}
		time.Sleep(pause)
		pause = min(pause+pause/4, 20*time.Millisecond)
	}
	return true
}
