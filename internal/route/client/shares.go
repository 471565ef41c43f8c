package client

import "net/netip"

// Part is how much of something one client may hold while it is scarce: of 0 to 1. Both
// 0 and 1 are all of it.
type Part float64

// Off reports whether a client may hold everything.
func (p Part) Off() bool { return p <= 0 || p >= 1 }

// scarce is how much of everything is left where it is scarce: less than this part.
const scarce = 4

// Spent reports whether a client may have no more. held is what the client holds, used what
// all clients hold, all what there is. The client may have no more where it holds its part of
// all and less than a quarter of all is free. So a client that is alone may hold three
// quarters, and others find a quarter free. Where the part is less than one piece nobody is
// refused.
func (p Part) Spent(held, used, all int) bool {
	share := int(float64(p) * float64(all))
	return !p.Off() && share > 0 && held >= share && isScarce(used, all)
}

func isScarce(used, all int) bool { return scarce*(all-used) < all }

// Shares is how much each client holds. Nothing is counted for the zero netip.Prefix, which
// stands for clients without an address. Only clients that hold something are in it. It has
// no lock: its owner locks it.
type Shares struct {
	part Part
	held map[netip.Prefix]*int
	free *int // number of the client that went last, for the next that comes
}

// NewShares returns Shares that nobody holds any of.
func NewShares(part Part) *Shares { return &Shares{part: part, held: map[netip.Prefix]*int{}} }

// Held returns how much c holds.
func (s *Shares) Held(c netip.Prefix) int {
	if s.part.Off() || !c.IsValid() {
		return 0
	}
	if held := s.held[c]; held != nil {
		return *held
	}
	return 0
}

// Spent is Part's for what c holds and would take in one piece with it: more. What c holds is only
// looked up where it matters.
func (s *Shares) Spent(c netip.Prefix, more, used, all int) bool {
	return isScarce(used, all) && s.part.Spent(s.Held(c)+more, used, all)
}

// Take notes that c holds one more.
func (s *Shares) Take(c netip.Prefix) { s.Add(c, 1) }

// Give notes that c holds one less.
func (s *Shares) Give(c netip.Prefix) { s.Add(c, -1) }

// Add notes that c holds n more, or less where n is below 0.
func (s *Shares) Add(c netip.Prefix, n int) {
	if s.part.Off() || !c.IsValid() {
		return
	}
	held := s.held[c]
	switch {
	case held == nil && n <= 0:
		return
	case held == nil:
		if held, s.free = s.free, nil; held == nil {
			held = new(int)
		}
		s.held[c] = held
	}
	if *held += n; *held <= 0 {
		delete(s.held, c)
		*held, s.free = 0, held
	}
}

// Len returns how many clients hold something.
func (s *Shares) Len() int { return len(s.held) }
