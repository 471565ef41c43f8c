package client

import (
	"net/netip"
	"testing"
)

// TestAShareBindsWhereLittleIsLeft: and not before, nor where it is less than one piece.
func TestAShareBindsWhereLittleIsLeft(t *testing.T) {
	for _, c := range []struct {
		part            Part
		held, used, all int
		want            bool
	}{
		{0.125, 64, 385, 512, true},
		{0.125, 64, 384, 512, false}, // a quarter is left
		{0.125, 63, 511, 512, false}, // it holds less than its part
		{0.125, 383, 384, 512, false},
		{0.125, 0, 512, 512, false},
		{0.125, 2, 13, 16, true},
		{0.125, 2, 12, 16, false},
		{0.125, 7, 7, 7, false}, // an eighth of 7 is none
		{0.125, 1, 8, 8, true},
		{1, 512, 512, 512, false},
		{0, 512, 512, 512, false},
	} {
		if got := c.part.Spent(c.held, c.used, c.all); got != c.want {
			t.Errorf("%v of %d, %d of %d held: got %v, want %v", c.part, c.all, c.held, c.used, got, c.want)
		}
	}
}

// TestOnlyWhoHoldsSomethingIsKept.
func TestOnlyWhoHoldsSomethingIsKept(t *testing.T) {
	s := NewShares(0.5)
	a, b := netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("2001:db8::/64")
	s.Take(a)
	s.Take(a)
	s.Take(b)
	s.Take(netip.Prefix{})
	if s.Held(a) != 2 || s.Held(b) != 1 || s.Held(netip.Prefix{}) != 0 || s.Len() != 2 {
		t.Errorf("got %d, %d and %d of %d clients, want 2, 1 and 0 of 2", s.Held(a), s.Held(b), s.Held(netip.Prefix{}), s.Len())
	}
	if !s.Spent(a, 0, 4, 4) || s.Spent(b, 0, 4, 4) || s.Spent(netip.Prefix{}, 0, 4, 4) || s.Spent(a, 0, 3, 4) || !s.Spent(b, 1, 4, 4) {
		t.Error("of 4, all held, who holds 2 may have no more, and the others may")
	}
	s.Give(a)
	s.Give(a)
	s.Give(b)
	s.Give(netip.Prefix{})
	if s.Len() != 0 {
		t.Errorf("%d clients are kept that hold nothing", s.Len())
	}
	for range 3 { // who comes begins with nothing, also in the place of one who went
		s.Add(a, 5)
		s.Add(a, -7)
		s.Give(b)
		if s.Take(b); s.Held(a) != 0 || s.Held(b) != 1 || s.Len() != 1 {
			t.Errorf("got %d and %d of %d clients, want 0 and 1 of 1", s.Held(a), s.Held(b), s.Len())
		}
		s.Give(b)
	}
	off := NewShares(1)
	off.Take(a)
	if off.Len() != 0 {
		t.Error("clients are kept where there are no shares")
	}
}
