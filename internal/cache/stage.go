package cache

import (
	"bytes"
	"slices"
	"time"
)

// bytesPerURLChain sizes the stage's table of URLs with variants: 0.2 to 0.4 % of the stage's bytes.
const bytesPerURLChain = 4 * bytesPerChain

// stage holds first sightings, first in, first out. Anyone may find an item or a URL, the rest is the writer's.
//
// Its variants have records of their own, beside those of the memory tier's index. In one index, a crawl over URLs that
// vary would push out the records of admitted responses, and their entries with them. As nothing leaves the stage
// unseen, a record lists exactly what is staged and goes with the last of them. So the records need no bound of their
// own: each item pays for one.
type stage struct {
	maxBytes int64
	books    ledger
	items    *secondChance[*Object]
	urls     *secondChance[*record]
}

func newStage(maxBytes int64, now func() time.Time) *stage {
	return &stage{
		books:    ledger{now: now},
		maxBytes: maxBytes,
		items:    newSecondChance[*Object](maxBytes/bytesPerChain, 0),
		urls:     newSecondChance[*record](maxBytes/bytesPerURLChain, 0),
	}
}

// makeRoom evicts the oldest until cost more bytes fit; cost is at most maxBytes. The item under k is about to be
// replaced, so it stays if it can.
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

// land makes it the newest item. It replaces the item under its Key.
func (g *stage) land(it *Object) {
	cost := it.weight().staged()
	g.books.landed(it, cost, it.Content().Size())
	if it.Varies() {
		g.list(it) // first: no look-up finds a variant without its record
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

// leave removes an item.
func (g *stage) leave(slot *slot[*Object], why departure) {
	g.items.remove(slot)
	g.strike(slot.value)
	g.books.left(why, slot.value, slot.bytes)
}

// remove removes the item under k if it belongs to the URL called name.
func (g *stage) remove(k Key, name []byte, why departure) bool {
	slot := g.items.peek(k)
	if slot == nil || !bytes.Equal(slot.value.URLName(), name) {
		return false
	}
	g.leave(slot, why)
	return true
}

// forget removes all variants of a URL and returns how many there were.
func (g *stage) forget(url Key, name []byte, why departure) int {
	slot := g.urls.peek(url)
	if slot == nil || !bytes.Equal(slot.value.name, name) {
		return 0
	}
	return g.drop(slot, why)
}

// drop removes all variants of a record, and with the last of them the record.
func (g *stage) drop(slot *slot[*record], why departure) int {
	keys := slices.Clone(slot.value.keys) // each departure removes one
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
	if !r.has(o) {
		r.add(listFor(o))
	}
	r.keys = append(without(r.keys, o.key), o.key)
}

// tidy removes from r the lists that no staged variant has.
func (g *stage) tidy(r *record) {
	var kept []varyList
	for _, l := range r.all() {
		if slices.ContainsFunc(r.keys, func(k Key) bool { return g.items.peek(k).value.variesBy(l.names) }) {
			kept = append(kept, l)
		}
	}
	r.lists.Store(&kept)
}

// strike removes it from the variants of its URL.
func (g *stage) strike(it *Object) {
	if !it.Varies() {
		return
	}
	slot := g.urls.peek(it.URL())
	if slot.value.keys = without(slot.value.keys, it.key); len(slot.value.keys) == 0 {
		g.urls.remove(slot)
	}
}

// rivals returns the staged variants of o's URL except o, oldest first.
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
