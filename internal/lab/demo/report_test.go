package demo

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func somePair() pair {
	return pair{
		secondHit: Counts{
			Requests: 30_002, HitRatio: 0.487, Writes: 2909, WriteBytes: 46 << 20, DiskBytes: 48 << 20, Evictions: 833,
			HeldBack: 12_493, Regret: 1010, OriginRequests: 15_402, OriginBytes: 247 << 20, MaxBytes: 8 << 20, MaxDiskBytes: 32 << 20,
		},
		always: Counts{
			Requests: 30_003, HitRatio: 0.502, Writes: 14_946, WriteBytes: 244 << 20, DiskBytes: 258 << 20, Evictions: 12_615,
			OriginRequests: 14_946, OriginBytes: 244 << 20, MaxBytes: 8 << 20, MaxDiskBytes: 32 << 20,
		},
	}
}

func TestLineShowsTheCounts(t *testing.T) {
	want := "    0:30       30,002   48.7 %  50.2 %       2,909     14,946   80.5 %    198 MiB      48 MiB    258 MiB        +456\n"
	if diff := cmp.Diff(want, line(30*time.Second, somePair())); diff != "" {
		t.Errorf("line (-want +got):\n%s", diff)
	}
	want = "    0:00            0    0.0 %   0.0 %           0          0    0.0 %        0 B         0 B        0 B           0\n"
	if diff := cmp.Diff(want, line(0, pair{})); diff != "" {
		t.Errorf("line before the first request (-want +got):\n%s", diff)
	}
	want = " 1:00:05       30,003   50.2 %  48.7 %      14,946      2,909 -413.8 %   -198 MiB     258 MiB     48 MiB        -456\n"
	if diff := cmp.Diff(want, line(time.Hour+5*time.Second, pair{somePair().always, somePair().secondHit})); diff != "" {
		t.Errorf("line of a loss (-want +got):\n%s", diff)
	}
}

func TestHeadingStandsAboveItsColumnsEveryTwentyLines(t *testing.T) {
	for n := range 3 * linesPerHeading {
		got := heading(n)
		if want := n%linesPerHeading == 0; (got != "") != want {
			t.Errorf("line %d: got a heading: %v, want %v", n, got != "", want)
		}
	}
	// A day of requests, and sizes and differences of the widest kind.
	long := pair{
		Counts{Requests: 86_400_000, HitRatio: 1, Writes: 43_200_000, WriteBytes: 1023 << 30, DiskBytes: 1023 << 30, OriginRequests: 9_999_999},
		Counts{Requests: 86_400_000, HitRatio: 1, Writes: 43_200_000},
	}
	want := len(line(0, pair{}))
	for _, text := range append(strings.SplitAfter(heading(0), "\n")[1:3], line(24*time.Hour, long), line(time.Minute, somePair())) {
		if len(text) != want {
			t.Errorf("a line of %d bytes, want %d like all:\n%s", len(text), want, text)
		}
	}
}

func TestSummarySaysWhatWasSavedAndThePrice(t *testing.T) {
	want := `
After 0:30:

                       second-hit         always
  requests                 30,002         30,003
  hit ratio                48.7 %         50.2 %
  cache writes              2,909         14,946
  bytes written            46 MiB        244 MiB
  written to disk          48 MiB        258 MiB
  evictions                   833         12,615
  origin requests          15,402         14,946
  origin bytes            247 MiB        244 MiB

  saved      12,037 cache writes (80.5 %) and 198 MiB (81.1 %)
  the disk   210 MiB fewer written to it (81.4 %), with heads and what is written again
  the price  +456 origin requests and +3.0 MiB from the origin, against always
  estimate   11,483 writes: 12,493 responses held back less 1,010 whose key came again (regret)
             Without a second proxy to compare with, this is what /status and /metrics can tell.
`
	if diff := cmp.Diff(want, summary(30*time.Second+900*time.Millisecond, somePair(), failures{})); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
}

func TestSummaryShowsFailures(t *testing.T) {
	got := summary(time.Second, somePair(), failures{secondHit: 3, last: errors.Join(errors.New("one"), errors.New("two"))})
	for _, want := range []string{"  failed requests               3              0\n", "The last failure: one; two\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no line %q in:\n%s", want, got)
		}
	}
}

func TestSummaryOfAGainAtTheOrigin(t *testing.T) {
	p := somePair()
	p.secondHit.OriginRequests, p.secondHit.OriginBytes = 14_000, 200<<20
	if got, want := verdict(p), "the price  -946 origin requests and -44 MiB from the origin"; !strings.Contains(got, want) {
		t.Errorf("no %q in:\n%s", want, got)
	}
}

func TestBannerNamesEveryAddress(t *testing.T) {
	o := Options{
		SecondHit: &fakeProxy{address: "127.0.0.1:1001", admin: "127.0.0.1:1002"},
		Always:    &fakeProxy{address: "127.0.0.1:1003", admin: "127.0.0.1:1004"},
		Origin:    "127.0.0.1:1005", Notes: []string{"127.0.0.1:8080 is taken."},
	}
	f := func(seconds int, lines ...string) {
		t.Helper()
		o.Seconds = seconds
		got := banner(o, somePair())
		for _, want := range lines {
			if !strings.Contains(got, want+"\n") {
				t.Errorf("no line %q in:\n%s", want, got)
			}
		}
	}
	f(0,
		"  proxy       http://127.0.0.1:1001  (policy second-hit, 8.0 MiB of memory before 32 MiB of disk)",
		"  metrics     http://127.0.0.1:1002/metrics",
		"  status      http://127.0.0.1:1002/status",
		"  always      http://127.0.0.1:1003  (policy always, 8.0 MiB of memory before 32 MiB of disk; status http://127.0.0.1:1004/status)",
		"  origin      http://127.0.0.1:1005",
		"127.0.0.1:8080 is taken.",
		"  curl -s -o /dev/null -D - http://127.0.0.1:1001/mine",
		"Ctrl-C ends it, with a summary.",
	)
	f(7, "It ends after 7 s, or by Ctrl-C before, with a summary.")
}
