package main

import (
	"testing"
	"time"
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

func TestPauseEndsNearItsTime(t *testing.T) {
	start := time.Now()
	for left := 3 * time.Millisecond; left > 0; left = 3*time.Millisecond - time.Since(start) {
		pause(t.Context(), left)
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("a pause of 3ms took %s", took)
	}
}
