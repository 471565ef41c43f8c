package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const someLog = `MISS 200 1000 1000
HIT 200 1000 -
STALE 200 10 -
UPDATING 200 20 -
REVALIDATED 200 30 0
EXPIRED 200 40 40
MISS 200 7 0, 7
BYPASS 200 5 5
MISS 502 157 0
- 400 150 -
`

func someCounts() counts {
	return counts{
		requests: 10, hits: 4, passed: 1, failed: 2, responseBytes: 2419, hitBytes: 1060, failedBytes: 307,
		originRequests: 7, originBytes: 1052,
	}
}

func TestAccessLogIsAddedUpWhileItGrows(t *testing.T) {
	for _, step := range []int{1, 7, 33, len(someLog)} {
		path := filepath.Join(t.TempDir(), "access.log")
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		l, err := openAccessLog(path, (*counts).addNginxLine)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		var got counts
		for rest := someLog; rest != ""; {
			n := min(step, len(rest))
			if _, err := file.WriteString(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
			if got, err = l.read(); err != nil {
				t.Fatal(err)
			}
			if whole := strings.Count(someLog[:len(someLog)-len(rest)], "\n"); got.requests != int64(whole) {
				t.Fatalf("%d bytes at a time: got %d requests, want the %d whole lines", step, got.requests, whole)
			}
		}
		if diff := cmp.Diff(someCounts(), got, cmp.AllowUnexported(counts{})); diff != "" {
			t.Errorf("%d bytes at a time (-want +got):\n%s", step, diff)
		}
	}
}

func TestLongAccessLogIsReadWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "access.log")
	if err := os.WriteFile(path, []byte(strings.Repeat(someLog, 5000)), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := openAccessLog(path, (*counts).addNginxLine)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if got, err := l.read(); err != nil || got.requests != 50_000 || got.originBytes != 5_260_000 {
		t.Errorf("got %d requests, %d origin bytes, error %v; want 50000, 5260000", got.requests, got.originBytes, err)
	}
}

func TestBrokenAccessLogIsAnError(t *testing.T) {
	f := func(line, want string) {
		t.Helper()
		if err := new(counts).addNginxLine(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", line, err, want)
		}
	}
	f("", "must have at least 4 fields")
	f("HIT 200 5", "must have at least 4 fields")
	f("HIT ok 5 -", "status")
	f("HIT 200 5k -", "bytes")
	if _, err := openAccessLog(filepath.Join(t.TempDir(), "none"), (*counts).addNginxLine); err == nil {
		t.Error("a log that is not there: got no error")
	}
}
