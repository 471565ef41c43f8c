package rate

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var begun = time.Unix(1_000_000, 0)

func address(i int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 32)
}

// TestABurstAndThenThePace: as many at once as the burst, then one each interval.
func TestABurstAndThenThePace(t *testing.T) {
	table, l, now := newTable(begun, ways), Limit{10, time.Second, 3}, begun
	f := func(after time.Duration, wait time.Duration) {
		t.Helper()
		now = now.Add(after)
		if got := table.Take(l, address(1), 1, now); got != wait {
			t.Errorf("after %v: got %v, want %v", now.Sub(begun), got, wait)
		}
	}
	f(0, 0)
	f(0, 0)
	f(0, 0)
	f(0, 100*time.Millisecond)
	f(40*time.Millisecond, 60*time.Millisecond)
	f(60*time.Millisecond, 0) // being refused costs nothing
	f(0, 100*time.Millisecond)
	f(time.Hour, 0) // and no more than the burst is saved
	f(0, 0)
	f(0, 0)
	f(0, 100*time.Millisecond)
}

func TestABurstThatIsNotGivenIsThatOfOnePeriod(t *testing.T) {
	table, l := newTable(begun, ways), Limit{5, time.Minute, 0}
	for i := range 5 {
		if wait := table.Take(l, address(1), 1, begun); wait != 0 {
			t.Errorf("request %d: told to wait %v, want no wait", i, wait)
		}
	}
	if wait := table.Take(l, address(1), 1, begun); wait != 12*time.Second {
		t.Errorf("got %v, want 12s", wait)
	}
	if (Limit{0, time.Second, 5}).Bounds() || (Limit{5, 0, 5}).Bounds() || !l.Bounds() {
		t.Error("a limit of no requests or no time is none")
	}
}

// TestClientsAndLimitsHaveBucketsOfTheirOwn, as long as there is room.
func TestClientsAndLimitsHaveBucketsOfTheirOwn(t *testing.T) {
	table, l := New(begun), Limit{1, time.Second, 1}
	for i := range 1000 {
		for name := range uint32(2) {
			if wait := table.Take(l, address(i), name, begun); wait != 0 {
				t.Fatalf("client %d, limit %d: told to wait %v by what others have asked", i, name, wait)
			}
		}
	}
	for i := range 1000 {
		if wait := table.Take(l, address(i), 0, begun); wait != time.Second {
			t.Fatalf("client %d: got %v, want 1s", i, wait)
		}
	}
}

// TestAFloodOfAddressesForgetsWhoAsksMostLast: it refuses nobody who has asked for little,
// and who is far over the limit stays so.
func TestAFloodOfAddressesForgetsWhoAsksMostLast(t *testing.T) {
	table, l := newTable(begun, ways), Limit{1, time.Second, 100}
	for range 100 {
		table.Take(l, address(0), 1, begun)
	}
	for i := 1; i <= 10000; i++ {
		if wait := table.Take(l, address(i), 1, begun); wait != 0 {
			t.Fatalf("client %d: told to wait %v at its first request", i, wait)
		}
	}
	if wait := table.Take(l, address(0), 1, begun); wait == 0 {
		t.Error("the client over its limit was forgotten for those that are not")
	}
	if table.Crowded() == 0 {
		t.Error("nobody has lost a place in a table of 8")
	}
}

// TestAFullBucketIsNoLoss: its place is another's, and no crowd.
func TestAFullBucketIsNoLoss(t *testing.T) {
	table, l := newTable(begun, ways), Limit{1, time.Second, 1}
	for i := range 1000 {
		if wait := table.Take(l, address(i), 1, begun.Add(time.Duration(i)*time.Second)); wait != 0 {
			t.Fatalf("client %d: told to wait %v", i, wait)
		}
	}
	if n := table.Crowded(); n != 0 {
		t.Errorf("%d have lost a place, want none", n)
	}
}

// TestManyAtOnceTakeNoMoreThanThereIs.
func TestManyAtOnceTakeNoMoreThanThereIs(t *testing.T) {
	table, l := New(begun), Limit{1, time.Hour, 500}
	var taken atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 200 {
				if table.Take(l, address(1), 1, begun) == 0 {
					taken.Add(1)
				}
			}
		})
	}
	all.Wait()
	if n := taken.Load(); n != 500 {
		t.Errorf("%d were let through, want 500", n)
	}
}

func TestTakeAllocatesNothing(t *testing.T) {
	table, l, i := New(begun), Limit{1, time.Second, 5}, 0
	if n := testing.AllocsPerRun(1000, func() { i++; table.Take(l, address(i%300), 1, begun) }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func BenchmarkTake(b *testing.B) {
	table, l, c := New(begun), Limit{1000, time.Second, 100}, address(7)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		table.Take(l, c, 1, begun.Add(time.Duration(i)*time.Microsecond))
	}
}

// TestATokenIsPutBack: what was not used counts for nothing, and is nobody else's.
func TestATokenIsPutBack(t *testing.T) {
	table, l := newTable(begun, ways), Limit{2, time.Second, 2}
	f := func(n int, want time.Duration) {
		t.Helper()
		if got := table.Take(l, address(n), 1, begun); got != want {
			t.Errorf("client %d: got %v, want %v", n, got, want)
		}
	}
	f(1, 0)
	f(1, 0)
	f(1, 500*time.Millisecond)
	table.Return(l, address(1), 1)
	table.Return(l, address(2), 1) // which has no bucket
	table.Return(l, address(1), 2) // nor has this
	f(1, 0)
	f(1, 500*time.Millisecond)
	f(2, 0)
	f(2, 0)
	f(2, 500*time.Millisecond)
}

// TestRequestsOfANewClientAtOnceShareOneBucket: each finds no bucket of the client. Once the second took the place that the first had
// just taken, and a request more than the burst was let through; or it met the debt of the client whose place that was, and was refused.
func TestRequestsOfANewClientAtOnceShareOneBucket(t *testing.T) {
	const burst, requests = 3, 4
	table, l := newTable(begun, ways), Limit{1, time.Hour, burst}
	for client := range 20_000 { // all but the first find the table full of debts
		var passed atomic.Int64
		var all sync.WaitGroup
		start := make(chan struct{})
		for range requests {
			all.Go(func() {
				<-start
				if table.Take(l, address(client), 1, begun) == 0 {
					passed.Add(1)
				}
			})
		}
		close(start)
		all.Wait()
		if n := passed.Load(); n != burst {
			t.Fatalf("client %d: %d of %d requests at once were let through, want the burst of %d", client, n, requests, burst)
		}
	}
}
