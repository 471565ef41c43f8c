package buffer

import (
	"sync"
	"testing"

	"edgeproxy/internal/test/testkit"
)

func TestTheLastOwnerGivesItBack(t *testing.T) {
	testkit.Plain(t, "under the race detector a pool drops some of what it gets")
	seen := 0
	for range 100 {
		b := Get(5000)
		bytes := b.Bytes()
		b.Share()
		var owners sync.WaitGroup
		for range 2 {
			owners.Go(b.Release)
		}
		owners.Wait()
		again := Get(4500)
		if &again.Bytes()[0] == &bytes[0] {
			seen++
		}
		again.Release()
	}
	if seen == 0 {
		t.Error("no memory was used again in 100 tries")
	}
}

func TestAllocNothingOnceItIsWarm(t *testing.T) {
	testkit.Plain(t, "under the race detector a pool drops some of what it gets")
	Get(3000).Release()
	if n := testing.AllocsPerRun(1000, func() { Get(3000).Release() }); n >= 1 {
		t.Errorf("%v allocations", n)
	}
}
