package http1

import (
	"testing"

	"github.com/valyala/fasthttp"
)

func TestHeadsAreKeptForTheirOwnEntryOnly(t *testing.T) {
	var k heads
	const a, b uint64 = 7, 7 + headSlots
	var h fasthttp.ResponseHeader
	if k.copyTo(&h, a) || k.copyTo(&h, 1) {
		t.Fatal("an empty table has a head")
	}
	of := func(value string) *fasthttp.ResponseHeader {
		var h fasthttp.ResponseHeader
		h.Set("X", value)
		return &h
	}
	k.keep(of("a"), a)
	if k.copyTo(&h, b) {
		t.Error("an entry has the head of another in its slot")
	}
	if !k.copyTo(&h, a) || string(h.Peek("X")) != "a" {
		t.Errorf("got %q, want a", h.Peek("X"))
	}
	h.Set("X", "changed by an answer")
	k.keep(of("b"), b)
	if k.copyTo(&h, a) {
		t.Error("the head is still there after another took its slot")
	}
	if !k.copyTo(&h, b) || string(h.Peek("X")) != "b" {
		t.Errorf("got %q, want b", h.Peek("X"))
	}
}

func TestHeadsAreWantedOnceInAWhile(t *testing.T) {
	var k heads
	wanted := 0
	for range 10 * headPatience {
		if k.wants(1) {
			wanted++
		}
	}
	if wanted != 10 {
		t.Errorf("wanted %d times in %d misses, want 10", wanted, 10*headPatience)
	}
}
