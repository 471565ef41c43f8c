package cache

// The marks of an Object in memory record the look-ups since it landed in its tier. They are one word in the cache line
// of the key, which every look-up reads. An Object that moves from window to main keeps them; a promotion makes a new
// Object.
const (
	markAsked = 1 << 31       // set once a look-up has returned it
	usesMask  = markAsked - 1 // of a variant: the number of look-ups, up to mostUses or a few more; see leastUsedLocked
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

func (o *Object) asked() bool { return o.marks.Load()&markAsked != 0 }

func (o *Object) uses() uint32 { return o.marks.Load() & usesMask }

// follow adds the uses of other, which o replaces, to o, which is new.
func (o *Object) follow(other *Object) { o.marks.Add(min(other.uses(), mostUses)) }

// copyMarks copies all marks of other to o, which is new.
func (o *Object) copyMarks(other *Object) { o.marks.Store(other.marks.Load()) }

// fade halves the uses.
func (o *Object) fade() {
	for {
		m := o.marks.Load()
		if o.marks.CompareAndSwap(m, m&markAsked|m&usesMask/2) {
			return
		}
	}
}
