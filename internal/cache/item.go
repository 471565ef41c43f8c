package cache

// The marks of an Object in memory record the look-ups since it landed in its tier. They are one word in the cache line
// of the key, which every look-up reads. An Object that moves from window to main keeps them; a promotion makes a new
// Object.
const (
	markAsked = 1 << 31     // set once a look-up has returned it
	oneTick   = 1 << 24     // ticks with a look-up, from here up, to mostTicks or a few more; see ranked.go
	usesMask  = oneTick - 1 // number of look-ups of a variant, up to mostUses or a few more; see leastUsedLocked

	ticksMask = markAsked - oneTick
	mostTicks = 16 * oneTick
)

// mostUses is where uses of a variant are no longer counted: so all read the word of a popular one and none writes it.
const mostUses = 4096

// use marks o as asked for and returns it. A look-up that races with o's departure may come too late to count.
func (o *Object) use() *Object {
	m := o.marks.Load()
	if m&markAsked == 0 { // read first: a popular entry's cache line stays shared
		o.marks.Or(markAsked)
	}
	if o.form&formVaries != 0 && m&usesMask < mostUses {
		o.marks.Add(1)
	}
	return o
}

// useAt marks o as used at a tick. The first use within a tick writes, the others only read.
func (o *Object) useAt(tick uint32) {
	if o.used.Load() == tick {
		return
	}
	o.used.Store(tick)
	if o.marks.Load()&ticksMask < mostTicks {
		o.marks.Add(oneTick)
	}
}

// timesUsed returns in how many ticks o was used, up to 16.
func (o *Object) timesUsed() uint32 { return min(o.marks.Load()&ticksMask, mostTicks) / oneTick }

func (o *Object) asked() bool { return o.marks.Load()&markAsked != 0 }

func (o *Object) uses() uint32 { return o.marks.Load() & usesMask }

// follow adds the uses of other, which o replaces, to o, which is new.
func (o *Object) follow(other *Object) {
	o.marks.Add(min(other.uses(), mostUses) + min(other.timesUsed(), mostTicks/oneTick-o.timesUsed())*oneTick)
}

// copyMarks copies all marks of other to o, which is new.
func (o *Object) copyMarks(other *Object) {
	o.marks.Store(other.marks.Load())
	o.used.Store(other.used.Load())
}

// fade halves the uses.
func (o *Object) fade() {
	for {
		m := o.marks.Load()
		if o.marks.CompareAndSwap(m, m&^usesMask|m&usesMask/2) {
			return
		}
	}
}
