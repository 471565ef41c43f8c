package cache

import (
	"bytes"
	"slices"
	"time"
)

// bytesPerURLChain is for the stage's table of URLs with variants: 0.2 to 0.4 %.
const bytesPerURLChain = 4 * bytesPerChain

// stage holds first sightings, first in, first out. Finding an item or a URL is
// for anyone, the rest is the writer's.
//
// Its variants have records of their own, beside those of the memory tier's
// index: in one index, a crawl over URLs that vary would push out the records of
// what admission let in, and their entries with them. As nothing leaves the stage
// unseen, a record lists exactly what is staged and goes with the last of them. So
// the records need no bound of their own: each item pays for one.
type stage struct {
	maxBytes int64
	books    ledger
	items    *clock[*Object]
	urls     *clock[*record]
}

func newStage(maxBytes int64, left *leftovers, now func() time.Time) *stage {
	return &stage{
		books:    ledger{leftovers: left, now: now},
		maxBytes: maxBytes,
		items:    newClock[*Object](maxBytes/bytesPerChain, 0),
		urls:     newClock[*record](maxBytes/bytesPerURLChain, 0),
	}
}

// makeRoom lets the oldest leave until cost more bytes fit, at most maxBytes. What
// is under k is about to be replaced, so it stays if it can.
func (g *stage) makeRoom(cost int64, k Key) {
	for g.items.bytes.Load()+cost > g.maxBytes {
		oldest := g.items.oldest()
		switch {
		case oldest.key != k:
			g.leave(oldest, capacity)
		case g.items.count.Load() > 1:
			g.items.renew(oldest)
		default:
			g.leave(oldest, replaced)
		}
	}
}

// land makes it the newest item, in place of what is under its Key.
func (g *stage) land(it *Object) {
	cost := it.weight().staged()
	g.books.landed(it, cost, it.Content().Size())
	if it.Varies() {
		g.list(it) // first: nothing finds a variant without its record
	}
	_, old := g.items.put(it.key, it, cost)
	if old == nil {
		return
	}
	if old.value.URL() != it.URL() { // hashes collide
		g.strike(old.value)
	}
	g.books.left(replaced, old.value, old.bytes)
}

// leave takes out an item.
func (g *stage) leave(slot *slot[*Object], why departure) {
	g.items.remove(slot)
	g.strike(slot.value)
	g.books.left(why, slot.value, slot.bytes)
}

// remove takes out the item under k if it belongs to the URL called name.
func (g *stage) remove(k Key, name []byte, why departure) bool {
	slot := g.items.peek(k)
	if slot == nil || !bytes.Equal(slot.value.URLName(), name) {
		return false
	}
	g.leave(slot, why)
	return true
}

// forget takes out all variants of a URL and returns how many there were.
func (g *stage) forget(url Key, name []byte, why departure) int {
	slot := g.urls.peek(url)
	if slot == nil || !bytes.Equal(slot.value.name, name) {
		return 0
	}
	return g.drop(slot, why)
}

// drop takes out all variants of a record, and with the last of them the record.
func (g *stage) drop(slot *slot[*record], why departure) int {
	keys := slices.Clone(slot.value.keys) // each departure strikes one off
	for _, k := range keys {
		g.leave(g.items.peek(k), why)
	}
	return len(keys)
}

// list makes o the newest variant of its URL.
func (g *stage) list(o *Object) {
	slot := g.urls.peek(o.URL())
	if slot == nil {
		slot, _ = g.urls.put(o.URL(), newRecord(o), 0)
	}
	r := slot.value
	r.keys = append(without(r.keys, o.key), o.key)
}

// strike takes it off the variants of its URL.
func (g *stage) strike(it *Object) {
	if !it.Varies() {
		return
	}
	slot := g.urls.peek(it.URL())
	if slot.value.keys = without(slot.value.keys, it.key); len(slot.value.keys) == 0 {
		g.urls.remove(slot)
	}
}

// rivals returns the staged variants of the URL of o but o itself, oldest first.
func (g *stage) rivals(o *Object) []Key {
	slot := g.urls.peek(o.URL())
	if slot == nil {
		return nil
	}
	return without(slices.Clone(slot.value.keys), o.key)
}

func without(keys []Key, k Key) []Key {
	return slices.DeleteFunc(keys, func(other Key) bool { return other == k })
}
