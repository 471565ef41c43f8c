package index

// Entry is a record that a segment's footer lists.
type Entry struct {
	Hash  uint64 // hash of the key, the one that Put takes
	Place Place
}

// ahead is how many entries Fill reads the buckets of before it puts the first of
// them: as many reads of memory are under way at once.
const ahead = 16

// Fill puts the records of a segment, for a start or a larger table. Several
// goroutines may fill at once, while requests are served and put.
//
// Of two places that could be of one key, the index keeps the newer, whichever
// came first: newer says whether a is newer than b. A record is taken for the same
// key if its tag and buckets are the same. For 1.4 of 100,000 records that is wrong
// and one is forgotten, which is a miss; an old record is never taken for a new one.
// For every place that is not in the index then, dead is called: for the older of
// two, and for one that finds no room, since nothing is pushed out. Both functions
// run in the caller's goroutine without a lock. To fill newest first writes least.
func (x *Index) Fill(entries []Entry, newer func(a, b Place) bool, dead func(Place)) {
	for len(entries) > 0 {
		some := entries[:min(ahead, len(entries))]
		entries = entries[len(some):]
		x.fetch(some)
		for _, e := range some {
			x.fillOne(e, newer, dead)
		}
	}
}

// fetch reads a word of each bucket that entries are about to need.
func (x *Index) fetch(entries []Entry) {
	for i := range entries {
		at := x.homes(entries[i].Hash, tagOf(entries[i].Hash))
		x.buckets[at.first][0].Load()
		x.buckets[at.other][0].Load()
	}
}

func (x *Index) fillOne(e Entry, newer func(a, b Place) bool, dead func(Place)) {
	if !e.Place.fits() {
		dead(e.Place)
		return
	}
	for {
		there, alone, put := x.putAlone(e)
		switch {
		case put || !alone && there == e.Place:
			return
		case alone:
			dead(e.Place) // no room
			return
		case newer(there, e.Place):
			dead(e.Place)
			return
		case x.Swap(e.Hash, there, e.Place):
			dead(there)
			return
		}
	}
}

// putAlone puts e unless there is a word of its tag already. It returns the place
// of that word, whether there was none, and whether e was put.
func (x *Index) putAlone(e Entry) (there Place, alone, put bool) {
	t := tagOf(e.Hash)
	at, w := x.homes(e.Hash, t), newWord(t, e.Place)
	s := &x.writers[shardOf(t)]
	s.mu.Lock()
	defer s.mu.Unlock()
	var room [2 * bucketSlots]Place
	if found := x.match(at, t, room[:0]); len(found) > 0 {
		return found[0], false, false
	}
	if !x.claim(at, w) && !x.displaceLocked(at, w) {
		return Place{}, true, false
	}
	x.came(w)
	return Place{}, true, true
}
