package proxy

import (
	"testing"

	"github.com/valyala/fasthttp"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/field"
)

func TestHeadsAreKeptForTheirOwnEntryOnly(t *testing.T) {
	var k heads
	a := &cache.Entry{Serial: 7, Header: field.List{{Name: "X", Value: "a"}}}
	b := &cache.Entry{Serial: 7 + headSlots, Header: field.List{{Name: "X", Value: "b"}}}
	var h fasthttp.ResponseHeader
	if k.copyTo(&h, a) || k.copyTo(&h, &cache.Entry{}) {
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
	e := &cache.Entry{Serial: 1}
	wanted := 0
	for range 10 * headPatience {
		if k.wants(e) {
			wanted++
		}
	}
	if wanted != 10 {
		t.Errorf("wanted %d times in %d misses, want 10", wanted, 10*headPatience)
	}
}
