package edge

import (
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"reflect"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"edgeproxy/config"
	"edgeproxy/internal/proxy"
)

// mostHistory is how many bytes the history may take.
const mostHistory = 200_000

func TestTheHistoryTakesLittleMemory(t *testing.T) {
	if size := reflect.TypeFor[history]().Size(); size > mostHistory {
		t.Errorf("got %d bytes, want at most %d", size, mostHistory)
	}
	var h history
	a, b := &countSnapshot{at: time.Unix(0, 0)}, &countSnapshot{at: time.Unix(10, 0), bytes: map[string]int64{"app": 7}}
	if n := testing.AllocsPerRun(100, func() { h.add(a, b) }); n > 0 {
		t.Errorf("got %v allocations for each step, want none", n)
	}
}

func TestTheHistoryIsOfAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var bytes atomic.Int64
		l := newRecentCounts(func() countSnapshot {
			return countSnapshot{at: time.Now(), bytes: map[string]int64{"app": bytes.Load(), "other": 2 * bytes.Load()}, requests: proxy.Counts{At: time.Now()}}
		}, plainly)
		defer l.close()
		start := time.Now()
		f := func(wait time.Duration, steps int, last float32) {
			t.Helper()
			time.Sleep(wait)
			synctest.Wait()
			h := l.lastHour()
			for name, n := range map[string]int{
				"end": len(h.End), "seconds": len(h.Seconds), "hit": len(h.Results["hit"]), "5xx": len(h.Classes["5xx"]), "errors": len(h.Errors), "hit_ratio": len(h.HitRatio),
				"saved": len(h.Saved), "regret": len(h.Regret), "origin_bytes": len(h.OriginBytes), "p95": len(h.P95), "byte_hit_ratio": len(h.ByteRatio),
			} {
				if n != steps {
					t.Errorf("after %v: got %d of %s, want %d", time.Since(start), n, name, steps)
				}
			}
			if steps == 0 {
				return
			}
			if got := h.OriginBytes[steps-1]; got != last {
				t.Errorf("after %v: got %v bytes in the last step, want %v", time.Since(start), got, last)
			}
			ends := time.Now().Truncate(snapshotEvery).Unix()
			for i := range steps {
				if want := ends - int64(steps-1-i)*10; h.End[i] != want || h.Seconds[i] != 10 {
					t.Fatalf("step %d of %d: got %v s until %d, want 10 until %d", i, steps, h.Seconds[i], h.End[i], want)
				}
			}
		}
		f(0, 0, 0)
		bytes.Add(5)
		f(9*time.Second, 0, 0)
		f(2*time.Second, 1, 15)
		f(10*time.Second, 2, 0)
		bytes.Add(1)
		f(10*time.Second, 3, 3)
		f(59*time.Minute, 357, 0)
		bytes.Add(-6) // an origin of the same name has begun anew
		f(2*time.Minute, historySteps, 0)
		f(3*time.Hour, historySteps, 0)
	})
	var none *recentCounts
	if got := none.lastHour(); len(got.End) != 0 || got.Results["hit"] == nil {
		t.Errorf("of an edge that has not started: got %+v", got)
	}
}

func TestWhatIsMissingIsNull(t *testing.T) {
	text, err := json.Marshal(Column{0.5, float32(math.NaN()), 12345678, 1e-7})
	if err != nil || string(text) != "[0.5,null,12345678,0.0000001]" {
		t.Errorf("got %s, %v", text, err)
	}
	if text, err = json.Marshal(Column{}); err != nil || string(text) != "[]" {
		t.Errorf("got %s, %v", text, err)
	}
}

// The admin listener has the history, and each request is in it once.
func TestTheHistoryHasTheRequests(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/broken" {
			w.WriteHeader(http.StatusInternalServerError)
		}
		_, _ = io.WriteString(w, "four")
	}))
	t.Cleanup(s.Close)
	c, err := config.FromFlags(config.Flags{Origin: s.URL, Listen: "127.0.0.1:0", Admin: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	e := started(t, c)
	for _, path := range []string{"/", "/", "/broken"} {
		get(t, "http://"+e.Addresses()[0]+path)
	}
	eventually(t, "all are counted", func() bool { return e.Status().Requests.Totals.Requests == 3 })
	e.recent.add(e.snapshot()) // the step of ten seconds
	res, err := http.Get("http://" + e.AdminAddress() + "/status/history")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var got History
	if err := json.NewDecoder(res.Body).Decode(&got); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("got %s and %v", res.Status, err)
	}
	if len(got.End) != 1 || got.Classes["2xx"][0] != 2 || got.Classes["5xx"][0] != 1 || got.Errors[0] != 1 || got.OriginBytes[0] != 12 || got.P95[0] <= 0 || got.HitRatio[0] != 0 {
		t.Errorf("got %+v", got)
	}
	all := int32(0)
	for _, column := range got.Results {
		all += column[0]
	}
	if all != 3 {
		t.Errorf("got %d requests by result, want 3", all)
	}
}

// An origin that a reload had taken away and brought back had all its bytes since the start in one step.
func TestBytesOfAnOriginThatIsBack(t *testing.T) {
	var h history
	h.add(&countSnapshot{at: time.Unix(0, 0)}, &countSnapshot{at: time.Unix(10, 0), bytes: map[string]int64{"back": 1e12}})
	h.add(&countSnapshot{at: time.Unix(10, 0), bytes: map[string]int64{"back": 1e12}}, &countSnapshot{at: time.Unix(20, 0), bytes: map[string]int64{"back": 1e12 + 7}})
	if got := h.document().OriginBytes; got[0] != 0 || got[1] != 7 {
		t.Errorf("got %v bytes, want none and 7", got)
	}
}
