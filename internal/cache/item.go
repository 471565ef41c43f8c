package cache

// The marks of an Object that a tier of memory holds say what look-ups have made of it since it landed in its tier. They are one
// word in the cache line of the key, which every look-up reads. Moving from window to main the
// Object stays the same; a promotion makes a new one.
const (
	markAsked = 1 << 31       // a look-up has returned it
	usesMask  = markAsked - 1 // of a variant: how often that was, mostUses or a few more at most; see leastUsedLocked
)

// mostUses is where the uses of a variant are no longer counted: one in demand is read
// by all and written by none.
const mostUses = 4096

// use marks o as asked for and returns it. A look-up that races with the departure may be too late
// to count.
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

func (o *Object) asked() bool { return o.marks.Load()&markAsked != 0 }

func (o *Object) uses() uint32 { return o.marks.Load() & usesMask }

// follow gives o, which is new, the uses of the one that it follows.
func (o *Object) follow(other *Object) { o.marks.Add(min(other.uses(), mostUses)) }

// standFor gives o, which is new, all marks of the one that it stands for.
func (o *Object) standFor(other *Object) { o.marks.Store(other.marks.Load()) }

// fade halves the uses.
func (o *Object) fade() {
	for {
		m := o.marks.Load()
		if o.marks.CompareAndSwap(m, m&markAsked|m&usesMask/2) {
			return
		}
	}
}
