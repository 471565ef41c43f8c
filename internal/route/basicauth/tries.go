package basicauth

import (
	"hash/maphash"
	"net/netip"
	"time"

	"edgeproxy/internal/route/client"
)

// Bounds of what is counted.
const (
	cells = 1 << 15 // in a row: more than networks that can have their first try checked within triesKept
	// triesKept is the time behind which a try counts half.
	triesKept = 5 * time.Minute
)

// tries counts how often clients and their networks have tried lately, in fixed memory: each has a cell in two rows, and its count is the smaller
// one. Others that share both cells with it make it more. Nobody can tell who shares them. A count ends at 255.
type tries struct {
	seed   maphash.Seed
	rows   [2][cells]uint8
	halved time.Time
}

// place is where somebody is counted.
type place [2]uint16

func (t *tries) placeOf(p netip.Prefix) place {
	h := maphash.Comparable(t.seed, p)
	return place{uint16(h % cells), uint16(h >> 32 % cells)}
}

func (t *tries) of(p place) uint8 { return min(t.rows[0][p[0]], t.rows[1][p[1]]) }

func (t *tries) add(p place) {
	for i := range t.rows {
		if n := &t.rows[i][p[i]]; *n < 255 {
			*n++
		}
	}
}

func (t *tries) take(p place) {
	for i := range t.rows {
		if n := &t.rows[i][p[i]]; *n > 0 {
			*n--
		}
	}
}

// note counts a try of the client of c, and has c know which it was. Of one client, a network has mostOfClient tries at most: one
// that tries without end does not keep its neighbours behind.
func (t *tries) note(c *check, now time.Time) {
	t.age(now)
	c.network, c.client = t.placeOf(client.NetworkOf(c.who)), t.placeOf(c.who)
	t.add(c.client)
	c.nth = t.of(c.client)
	if c.nth <= mostOfClient {
		t.add(c.network)
	}
}

// forgive takes back what note has counted: c was right.
func (t *tries) forgive(c *check) {
	t.take(c.client)
	if c.nth <= mostOfClient {
		t.take(c.network)
	}
}

// age halves all counts for each triesKept that has gone by.
func (t *tries) age(now time.Time) {
	since := now.Sub(t.halved)
	if since < triesKept {
		return
	}
	by := min(since/triesKept, 8)
	for i := range t.rows {
		for j := range t.rows[i] {
			t.rows[i][j] >>= by
		}
	}
	t.halved = now
}
