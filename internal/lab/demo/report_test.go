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
			Requests: 30_012, Errors: 10, Hits: 14_611, Writes: 2909, WriteBytes: 46 << 20, DiskBytes: 48 << 20, Evictions: 833,
			HeldBack: 12_493, Regret: 1010, OriginRequests: 15_402, OriginBytes: 247 << 20, MaxBytes: 8 << 20, MaxDiskBytes: 32 << 20,
		},
		always: Counts{
			Requests: 30_003, Hits: 15_062, Writes: 14_946, WriteBytes: 244 << 20, DiskBytes: 258 << 20, Evictions: 12_615,
			OriginRequests: 14_946, OriginBytes: 244 << 20, MaxBytes: 8 << 20, MaxDiskBytes: 32 << 20,
		},
	}
}

func TestBarsGrowWithWhatWasWritten(t *testing.T) {
	f := func(secondHit, always int64, want ...string) {
		t.Helper()
		got := bars(pair{Counts{DiskBytes: secondHit, Writes: 12}, Counts{DiskBytes: always, Writes: 3456}})
		lines := append([]string{"             written to disk                      bytes     writes\n"}, want...)
		if diff := cmp.Diff(strings.Join(lines, ""), got); diff != "" {
			t.Errorf("%d and %d bytes (-want +got):\n%s", secondHit, always, diff)
		}
	}
	f(0, 0, "  edgeproxy                                         0 B         12\n", "  always                                            0 B      3,456\n")
	f(1<<17, 1<<20, "  edgeproxy  ████                               128 KiB         12\n", "  always     ████████████████████████████████   1.0 MiB      3,456\n")
	// The scale doubles.
	f(1<<14, 1<<20+1<<14, "  edgeproxy  ▎                                   16 KiB         12\n", "  always     ████████████████▎                  1.0 MiB      3,456\n")
	f(3<<20, 1<<20, "  edgeproxy  ████████████████████████           3.0 MiB         12\n", "  always     ████████                           1.0 MiB      3,456\n")
}

func TestVerdict(t *testing.T) {
	f := func(elapsed time.Duration, p pair, want string) {
		t.Helper()
		if diff := cmp.Diff(want, verdict(elapsed, p)); diff != "" {
			t.Errorf("verdict (-want +got):\n%s", diff)
		}
	}
	f(30*time.Second, somePair(),
		"  0:30  81.4 % of the bytes and 80.5 % of the writes to the disk avoided. The price: 3.1 % more requests to the origin; hit ratio 48.7 % beside 50.2 %.\n")
	f(time.Hour+5*time.Second, pair{somePair().always, somePair().secondHit},
		"1:00:05  -437.5 % of the bytes and -413.8 % of the writes to the disk avoided. The price: 3.0 % fewer requests to the origin; hit ratio 50.2 % beside 48.7 %.\n")
	f(0, pair{}, "  0:00  0.0 % of the bytes and 0.0 % of the writes to the disk avoided. The price: 0.0 % fewer requests to the origin; hit ratio 0.0 % beside 0.0 %.\n")
}

func TestCountsSinceAnEarlierTime(t *testing.T) {
	p := somePair()
	if diff := cmp.Diff(pair{Counts{MaxBytes: 8 << 20, MaxDiskBytes: 32 << 20}, Counts{MaxBytes: 8 << 20, MaxDiskBytes: 32 << 20}}, p.since(p), cmp.AllowUnexported(pair{})); diff != "" {
		t.Errorf("something is counted since now (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(p, p.since(pair{}), cmp.AllowUnexported(pair{})); diff != "" {
		t.Errorf("since the start (-want +got):\n%s", diff)
	}
}

func TestWarmedSaysWhetherTheCachesAreFull(t *testing.T) {
	if got, want := warmed(6512*time.Millisecond, somePair()), "Both caches are full, after 30,012 requests in 6.5s. All numbers begin now.\n\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := warmed(time.Second, pair{}), "The caches are not full yet, after 0 requests in 1s. All numbers begin now.\n\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSummarySaysWhatWasSavedAndThePrice(t *testing.T) {
	want := `
After 0:30:

                       second-hit         always
  requests                 30,012         30,003
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
	if got, want := result(p), "the price  -946 origin requests and -44 MiB from the origin"; !strings.Contains(got, want) {
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
		"  dashboard   http://127.0.0.1:1002/",
		"  edgeproxy   http://127.0.0.1:1001   ask three times and see Cache-Status change: curl -sD- -o /dev/null http://127.0.0.1:1001/mine",
		"  always      http://127.0.0.1:1003   the same program with the policy always; its dashboard: http://127.0.0.1:1004/",
		"  origin      http://127.0.0.1:1005",
		"127.0.0.1:8080 is taken.",
		"Both have 8.0 MiB of memory before 32 MiB of disk and get the same 1,000 requests a second. Ctrl-C ends it, with a summary.",
	)
	o.WarmUp = 20 * time.Second
	f(7, "It ends after 7 s, or by Ctrl-C before, with a summary.", "First both caches are filled, for at most 20s.")
}
