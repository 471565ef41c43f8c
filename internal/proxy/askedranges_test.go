package proxy

import (
	"math"
	"testing"

	"edgeproxy/internal/cache"
)

func TestAskedRangesAddUpUntilTheyAreSpent(t *testing.T) {
	var a askedRanges
	one, other := cache.Key{Hi: 1, Lo: 1}, cache.Key{Hi: 2, Lo: 1}
	f := func(key cache.Key, asked, enough int64, want bool) {
		t.Helper()
		if got := a.spend(key, asked, enough); got != want {
			t.Errorf("%d more, %d wanted: got %v, want %v", asked, enough, got, want)
		}
	}
	f(one, 10, 30, false)
	f(one, 10, 30, false)
	f(other, 10, 30, false)
	f(one, 10, 30, true)
	f(one, 29, 30, false)
	a.add(one, 1)
	f(one, 0, 30, true)
	f(one, math.MaxInt64, math.MaxInt64/2, false) // sums do not overflow
	f(one, math.MaxInt64, mostAsked, true)
	f(other, 0, 0, true)
}

func TestAskedRangesForgetWhoAskedForLeast(t *testing.T) {
	var a askedRanges
	key := func(i int) cache.Key { return cache.Key{Hi: uint64(i) + 1, Lo: 7} } // all of one set
	for i := range askedWays {
		a.add(key(i), int64(100+i))
		a.learn(key(i), int64(1000+i))
	}
	a.add(key(askedWays), 500)
	if got := a.size(key(0)); got != 0 {
		t.Errorf("got size %d, want it forgotten", got)
	}
	for i := 1; i < askedWays; i++ {
		if got := a.size(key(i)); got != int64(1000+i) {
			t.Errorf("key %d: got size %d, want %d", i, got, 1000+i)
		}
		if !a.spend(key(i), 0, int64(100+i)) {
			t.Errorf("key %d: its bytes are forgotten", i)
		}
	}
	if got := a.size(key(askedWays)); got != 0 {
		t.Errorf("got size %d of what has none", got)
	}
}
