package cache

import (
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// drain empties c and returns the values in the order of leaving.
func drain(c *secondChance[string]) (out []string) {
	for s := c.oldest(); s != nil; s = c.oldest() {
		out = append(out, s.value)
		c.remove(s)
	}
	return out
}

func TestSecondChanceLetsTheOldestLeaveFirstButForThoseInUse(t *testing.T) {
	f := func(what string, use func(*secondChance[string]), want ...string) {
		t.Helper()
		c := newSecondChance[string](4, 1)
		for _, name := range []string{"a", "b", "c"} {
			c.put(sum(name), name, 10)
		}
		use(c)
		if got := drain(c); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", what, got, want)
		}
		if n, b := c.count.Load(), c.bytes.Load(); n != 0 || b != 0 {
			t.Errorf("%s: got %d items of %d bytes left, want none", what, n, b)
		}
	}
	f("untouched", func(*secondChance[string]) {}, "a", "b", "c")
	f("found", func(c *secondChance[string]) { c.find(sum("a")) }, "b", "c", "a")
	f("peeked at", func(c *secondChance[string]) { c.peek(sum("a")) }, "a", "b", "c")
	f("replaced", func(c *secondChance[string]) { c.put(sum("a"), "A", 5) }, "b", "c", "A")
	f("renewed", func(c *secondChance[string]) { c.renew(c.peek(sum("b"))) }, "a", "c", "b")
	f("resized", func(c *secondChance[string]) { c.resize(c.peek(sum("b")), 7) }, "a", "b", "c")
	f("all found", func(c *secondChance[string]) { c.find(sum("a")); c.find(sum("b")); c.find(sum("c")) }, "b", "a", "c")
	f("removed", func(c *secondChance[string]) { c.remove(c.peek(sum("b"))) }, "a", "c")
}

// A new entry must not leave early because everything else is in demand.
func TestSecondChanceKeepsANewItemForItsShareOfDepartures(t *testing.T) {
	f := func(chances, want int) {
		t.Helper()
		const items = 120
		c := newSecondChance[int](items, chances)
		key := func(i int) Key { return Key{Lo: uint64(i)} }
		for i := range items {
			c.put(key(i), i, 1)
		}
		c.put(key(items), items, 1) // never asked for
		outlived := 0
		for ; ; outlived++ {
			for i := range items {
				c.find(key(i))
			}
			s := c.oldest()
			if s.value == items {
				break
			}
			c.remove(s)
			c.put(s.key, s.value, 1)
		}
		if outlived != want {
			t.Errorf("%d chances: got outlived %d departures of %d, want %d", chances, outlived, items, want)
		}
	}
	f(0, 120)
	f(1, 60)
	f(3, 30)
}

func TestSecondChanceKeepsKeysOfOneChainApart(t *testing.T) {
	c := newSecondChance[int](1, 1)
	model := map[Key]int{}
	check := func(step string) {
		t.Helper()
		got := map[Key]int{}
		for i := range uint64(8) {
			if v, ok := c.find(Key{Hi: i}); ok {
				got[Key{Hi: i}] = v
			}
		}
		if diff := cmp.Diff(model, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", step, diff)
		}
	}
	for i := range 6 {
		k := Key{Hi: uint64(i)}
		c.put(k, i, 1)
		model[k] = i
	}
	check("filled")
	for _, hi := range []uint64{0, 3, 5} { // both ends of the chain and its middle
		k := Key{Hi: hi}
		c.put(k, 100, 1)
		model[k] = 100
		check("replaced")
		c.remove(c.peek(k))
		delete(model, k)
		check("removed")
	}
}

// A look-up may stand on an item that the writer takes out of the chain.
func TestSecondChanceFindsWhatStaysWhileNeighboursComeAndGo(t *testing.T) {
	c := newSecondChance[uint64](1, 1)
	stays := Key{Hi: 3}
	for i := range uint64(8) {
		c.put(Key{Hi: i}, i, 1)
	}
	var wg sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		wg.Go(func() {
			for {
				if v, ok := c.find(stays); !ok || v%8 != 3 {
					t.Errorf("find: got %d %v, want the item under its key", v, ok)
					return
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for round := range uint64(20_000) {
		k := Key{Hi: round % 8}
		if k != stays {
			c.remove(c.peek(k))
		}
		c.put(k, round*8+k.Hi, 1)
	}
	close(done)
	wg.Wait()
}

// Find skips the table when nothing is in it; a replacement is not such a moment.
func TestSecondChanceFindsTheOnlyItemWhileItIsReplaced(t *testing.T) {
	c := newSecondChance[int](1, 0)
	c.put(Key{}, 0, 1)
	var reader sync.WaitGroup
	done := make(chan struct{})
	reader.Go(func() {
		for {
			if _, ok := c.find(Key{}); !ok {
				t.Error("find: got nothing, want the old item or the new")
				return
			}
			select {
			case <-done:
				return
			default:
			}
		}
	})
	for i := range 100_000 {
		c.put(Key{}, i, 1)
	}
	close(done)
	reader.Wait()
}
