package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"edgeproxy/internal/test/testkit"
)

func TestEachPartPrintsItsFigures(t *testing.T) {
	testkit.Slow(t, "it fills a disk, and reads it for a while")
	testkit.Plain(t, "it measures times")
	var out, problems bytes.Buffer
	args := []string{
		"-dir", t.TempDir(), "-traces", "zipf:objects=300,requests=3000,exponent=0.9", "-objects", "40000", "-records", "500", "-reading", "100ms", "-rate", "5000000",
	}
	if code := run(context.Background(), args, &out, &problems); code != 0 {
		t.Fatalf("exit code %d: %s", code, problems.String())
	}
	for _, want := range []string{"  store ", "  FIFO ring ", "store: reads beside ", "files: reads beside ", "fill: 40000 objects", "look-up"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got %q, want a line with %q", out.String(), want)
		}
	}
}

func TestUsage(t *testing.T) {
	var out, problems bytes.Buffer
	if code := run(context.Background(), []string{"-nonsense"}, &out, &problems); code != 2 {
		t.Errorf("got exit code %d, want 2", code)
	}
}
