package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func plainly(step func()) { step() }

func TestLatelyIsAMinuteOrALittleMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var count atomic.Int64
		l := newRecentCounts(func() countSnapshot {
			return countSnapshot{at: time.Now(), limits: map[string]int64{"n": count.Load()}}
		}, plainly)
		defer l.close()
		f := func(wait, least, most time.Duration, counted int64) {
			t.Helper()
			time.Sleep(wait)
			synctest.Wait()
			since := l.since(time.Now())
			if past := time.Since(since.at); past < least || past > most {
				t.Errorf("got the last %v, want %v to %v", past, least, most)
			}
			if got := count.Load() - since.limits["n"]; got != counted {
				t.Errorf("got %d lately, want %d", got, counted)
			}
		}
		f(0, 0, 0, 0)
		count.Add(5)
		f(3*time.Second, 3*time.Second, 3*time.Second, 5) // since the start
		f(56*time.Second, 59*time.Second, 59*time.Second, 5)
		f(12*time.Second, time.Minute, 70*time.Second, 0)
		count.Add(2)
		f(time.Second, time.Minute, 70*time.Second, 2)
		f(58*time.Second, time.Minute, 70*time.Second, 2)
		f(time.Hour, time.Minute, 70*time.Second, 0)
		if got := len(l.snapshots); got != snapshotsKept {
			t.Errorf("got %d notes, want %d", got, snapshotsKept)
		}
	})
}

// A proxy that has not started, or that has stopped, has a status all the same.
func TestLatelyOfNothing(t *testing.T) {
	var none *recentCounts
	none.close()
	now := time.Now()
	if got := none.since(now); got.at != now || got.limits["x"] != 0 {
		t.Errorf("got %+v", got)
	}
}

// readStatus asks a running program.
func readStatus(t *testing.T, s *server) (out status) {
	t.Helper()
	_, text := get(t, "http://"+s.admin+"/status")
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestStatusHasTheLimitsThatBit(t *testing.T) {
	s := serveBinary(t, "-c", writeFile(t, "edge.yaml", fmt.Sprintf(`listen: [{address: "127.0.0.1:0"}]
admin: {address: "127.0.0.1:0"}
limits: {rate: {requests: 1, per: 1h, burst: 2}}
origins: {app: {servers: [%q]}}
`, cachedOrigin(t))))
	if got := readStatus(t, s); len(got.Limits.Refused) > 0 || len(got.Limits.LetGo) > 0 || got.Lately < 0 || got.Lately > got.Uptime {
		t.Errorf("at first: got %+v of the last %v s", got.Limits, got.Lately)
	}
	refused := int64(0)
	for range 5 {
		if res, _ := get(t, "http://"+s.address+"/cached"); res.StatusCode == http.StatusTooManyRequests {
			refused++
		}
	}
	got := readStatus(t, s)
	want := map[string]limitCount{"rate": {Total: refused, Lately: refused}}
	if refused == 0 || fmt.Sprint(got.Limits.Refused) != fmt.Sprint(want) || len(got.Limits.LetGo) > 0 {
		t.Errorf("got %+v, want %v refused", got.Limits, want)
	}
	o := got.Origins[0]
	for _, f := range []firstByteStatus{o.FirstByte, o.FirstByteLately} {
		if f.Responses != 2 || f.Mean <= 0 || f.P50 <= 0 || f.P95 < f.P50 {
			t.Errorf("got %+v, want two responses of the origin", o)
		}
	}
}
