package running

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func about(second int) *About {
	return &About{Start: start.Add(time.Duration(second) * time.Second), Scheme: "http", Route: "r", Method: []byte("GET"), Host: []byte("h"), Target: fmt.Appendf(nil, "/%d", second)}
}

// The oldest are listed, whatever begins and ends: against a plain list.
func TestTheOldestComeFirst(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var table Table
	is := map[int]*Request{}
	for i := range 3000 {
		if len(is) > 0 && r.IntN(5) < 2 {
			for n, one := range is {
				one.End()
				one.End() // does nothing
				delete(is, n)
				break
			}
		} else {
			one := &Request{}
			table.Begin(one, r.Uint32(), about(i), Origin)
			is[i] = one
		}
		if i%50 != 0 {
			continue
		}
		want := make([]int, 0, len(is))
		for n := range is {
			want = append(want, n)
		}
		slices.Sort(want)
		rows, total := table.Oldest(7)
		if total != len(is) || len(rows) != min(7, total) {
			t.Fatalf("got %d rows of %d, want %d of %d", len(rows), total, min(7, len(is)), len(is))
		}
		for n, row := range rows {
			if row.Target != fmt.Sprint("/", want[n]) {
				t.Fatalf("row %d: got %s, want /%d", n, row.Target, want[n])
			}
		}
	}
}

func TestARowSaysWhatIsKnown(t *testing.T) {
	var table Table
	r := &Request{}
	a := &About{
		Start: start, Scheme: "https", Route: "shop", Method: []byte("A-METHOD-THAT-IS-LONG"), Host: []byte("a.example"),
		Target: []byte("/" + strings.Repeat("x", 300)), Client: netip.MustParseAddr("192.0.2.1"),
	}
	table.Begin(r, 3, a, Disk)
	a.Host[0] = 'b' // it was copied
	r.Enter(Sending)
	r.Sent(17)
	rows, total := table.Oldest(100)
	want := Row{
		Start: start, Phase: Sending, Scheme: "https", Route: "shop", Method: "A-METHOD-THAT-IS", Host: "a.example",
		Target: "/" + strings.Repeat("x", 255), Client: "192.0.2.1", Cut: true, Sent: 17,
	}
	if total != 1 || len(rows) != 1 || rows[0] != want {
		t.Errorf("got %d: %+v, want %+v", total, rows, want)
	}
	r.End()
	table.Begin(r, 4, about(1), Tunnel)
	sent, received := r.Counts()
	sent.Add(3)
	received.Add(4)
	want = Row{Start: start.Add(time.Second), Phase: Tunnel, Scheme: "http", Route: "r", Method: "GET", Host: "h", Target: "/1", Sent: 3, Received: 4}
	var queued atomic.Bool
	r.Watch(&queued)
	queued.Store(true)
	if rows, _ := table.Oldest(1); rows[0].Phase != Tunnel {
		t.Errorf("got the phase %v, want that of a tunnel", rows[0].Phase)
	}
	r.Enter(Origin)
	if rows, _ := table.Oldest(1); rows[0].Phase != Queue {
		t.Errorf("got the phase %v, want that it is in the queue", rows[0].Phase)
	}
	queued.Store(false)
	want.Phase = Origin
	if rows, _ := table.Oldest(1); len(rows) != 1 || rows[0] != want {
		t.Errorf("used again: got %+v, want %+v", rows, want)
	}
	if rows, total := table.Oldest(0); len(rows) != 0 || total != 1 {
		t.Errorf("none asked for: got %d rows of %d", len(rows), total)
	}
	var none *Request
	none.Enter(Disk)
	none.Sent(1)
	none.End()
}

func TestListsAndRequestsDoNotRace(t *testing.T) {
	var table Table
	var wait sync.WaitGroup
	for w := range 4 {
		wait.Go(func() {
			var r Request
			for i := range 2000 {
				table.Begin(&r, uint32(w), about(i), Origin)
				r.Enter(Sending)
				r.Sent(int64(i))
				r.End()
			}
		})
		wait.Go(func() {
			for range 200 {
				table.Oldest(3)
			}
		})
	}
	wait.Wait()
	if rows, total := table.Oldest(3); total != 0 || len(rows) != 0 {
		t.Errorf("got %d of %d, want none", len(rows), total)
	}
}

func BenchmarkBeginAndEnd(b *testing.B) {
	var table Table
	var r Request
	a := about(1)
	b.ReportAllocs()
	for b.Loop() {
		table.Begin(&r, 1, a, Origin)
		r.End()
	}
}
