package simulate

import (
	"testing"
	"time"

	"edgeproxy/internal/lab/trace"
)

func TestRotationOfACacheSaysItsLength(t *testing.T) {
	f := func(r Rotation, c int64, wantCount int64, wantText, wantAsked string) {
		t.Helper()
		got := r.at(c, trace.Facts{Requests: 2_000_000_000, Objects: 20_000})
		if got.Count != wantCount || got.String() != wantText || got.label() != wantAsked {
			t.Errorf("%+v at C = %d: got %d %q %q, want %d %q %q", r, c, got.Count, got.String(), got.label(), wantCount, wantText, wantAsked)
		}
	}
	f(Rotation{Unit: ByKeys, Count: 5000}, 1840, 5000, "at 5000 keys", "at 5,000 keys")
	f(Rotation{Unit: ByRequests, Count: 5000}, 1840, 5000, "every 5000 requests", "every 5,000 requests")
	f(Rotation{Unit: ByRequests, PerCached: 4}, 1840, 7360, "every 7360 requests (4c)", "4c requests")
	f(Rotation{Unit: ByKeys, PerCached: 0.5}, 1841, 920, "at 920 keys (0.5c)", "0.5c keys")
	// Periods have a floor and a ceiling.
	f(Rotation{Unit: ByKeys, Count: 7}, 1840, 100, "at 100 keys (raised)", "at 100 keys (raised)")
	f(Rotation{Unit: ByKeys, PerCached: 4}, 17, 100, "at 100 keys (4c, raised)", "4c keys")
	f(Rotation{Unit: ByKeys, PerCached: 4}, 25, 100, "at 100 keys (4c)", "4c keys")
	f(Rotation{Unit: ByRequests, PerCached: 1e300}, 1840, 1_000_000_000, "every 1000000000 requests (1e+300c, lowered)", "1e+300c requests")
	// What the log has not so many of never happens.
	f(Rotation{Unit: ByKeys, Count: 20_000}, 1840, 20_000, "at 20000 keys", "at 20,000 keys")
	f(Rotation{Unit: ByKeys, Count: 20_001}, 1840, 20_001, "at 20001 keys (never reached)", "at 20,001 keys (never reached)")
	f(Rotation{Unit: ByKeys, PerCached: 16}, 1840, 29_440, "at 29440 keys (16c, never reached)", "16c keys")
	// Time and never have no count.
	f(Rotation{Unit: ByTime, Every: 90 * time.Second}, 3, 0, "every 1m30s", "every 1m30s")
	f(Rotation{Unit: ByTime, Every: 30 * time.Minute}, 3, 0, "every 30m", "every 30m")
	f(Rotation{Unit: ByTime, Every: 6 * time.Hour}, 3, 0, "every 6h", "every 6h")
	f(Rotation{Unit: ByTime, Every: 20 * time.Second}, 3, 0, "every 20s", "every 20s")
	f(Rotation{}, 3, 0, "never", "never")
}

func TestAmountOfAWhole(t *testing.T) {
	f := func(a Amount, whole, want int64) {
		t.Helper()
		if got := a.bytesOf(whole); got != want {
			t.Errorf("%+v of %d: got %d, want %d", a, whole, got, want)
		}
	}
	f(Amount{}, 1000, 0)
	f(Amount{Bytes: 5}, 1000, 5)
	f(Amount{Percent: 5}, 280_431_248, 14_021_562)
	f(Amount{Percent: 29}, 100, 29) // 0.29 * 100 is below 29
	f(Amount{Percent: 0.1}, 999, 0)
	f(Amount{Percent: 200}, 1000, 2000)
}
