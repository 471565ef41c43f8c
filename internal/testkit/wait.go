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

// ComesTrue asks again and again until done or out of patience.
func ComesTrue(done func() bool) bool {
	poll := time.NewTicker(time.Millisecond)
	defer poll.Stop()
	end := time.Now().Add(Patience)
	for !done() {
		if time.Now().After(end) {
			return false
		}
		<-poll.C
	}
	return true
}
