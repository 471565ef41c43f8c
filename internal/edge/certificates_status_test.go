package edge

import (
	"slices"
	"testing"
	"time"
)

func TestDaysLeftOfACertificate(t *testing.T) {
	now := time.Date(2026, 11, 24, 6, 0, 0, 0, time.UTC)
	f := func(left time.Duration, want int64) {
		t.Helper()
		c := certificateOf([]string{"a"}, now.Add(left), now, fromFile, "a.pem")
		if c.DaysLeft == nil || *c.DaysLeft != want || !c.NotAfter.Equal(now.Add(left)) {
			t.Errorf("%v: got %+v, want %d days", left, c, want)
		}
	}
	const day = 24 * time.Hour
	f(14*day, 14)
	f(14*day-time.Second, 13)
	f(time.Second, 0)
	f(0, 0)
	f(-time.Second, -1)
	f(-day, -1)
	f(-day-time.Second, -2)
	if c := certificateOf([]string{"a"}, time.Time{}, now, fromACME, ""); c.DaysLeft != nil || c.NotAfter != nil {
		t.Errorf("none yet: got %+v", c)
	}
	if c := certificateOf(slices.Repeat([]string{"a"}, 200), now, now, fromFile, ""); len(c.Names) != certificateNames {
		t.Errorf("got %d names", len(c.Names))
	}
}
