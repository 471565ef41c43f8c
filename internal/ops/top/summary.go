package top

// entry is one counted key. Its text is in Summary.text.
type entry struct {
	hash      uint64
	count     int64  // upper bound of the key's count
	overcount int64  // the part of count that may belong to earlier keys of this entry
	heapIndex uint32 // index in the heap
	size      uint16 // length of the kept text
	cut       bool   // the key is longer
}

// Summary counts weights by key. When all entries are in use, a new key replaces the one with the least
// count, and takes over its count as a possible error. So the most frequent keys stay. It allocates all of
// its memory when it is created. It is not safe for concurrent use.
type Summary struct {
	width   int
	total   int64
	entries []entry  // entries in use
	heap    []uint32 // numbers of entries, the least count first
	index   index
	text    []byte // width bytes for each entry
}

// NewSummary returns a Summary for this many keys, at least 1. It keeps width bytes of each key's text, at most 65535.
func NewSummary(entries, width int) *Summary {
	return &Summary{
		width: width, entries: make([]entry, 0, entries), heap: make([]uint32, 0, entries),
		index: newIndex(entries), text: make([]byte, entries*width),
	}
}

// Add adds weight, above 0, to the count of the key with this hash and text. It allocates nothing.
func (s *Summary) Add(hash uint64, k *Key, weight int64) {
	s.total += weight
	if n, ok := s.index.find(hash, s.entries); ok {
		s.entries[n].count += weight
		s.siftDown(s.entries[n].heapIndex)
		return
	}
	if len(s.entries) < cap(s.entries) {
		n := uint32(len(s.entries)) //nolint:gosec // far below
		s.entries = append(s.entries, entry{hash: hash, count: weight, heapIndex: n})
		s.heap = append(s.heap, n)
		s.copyText(n, k)
		s.index.insert(hash, n)
		s.siftUp(n)
		return
	}
	n := s.heap[0]
	e := &s.entries[n]
	s.index.remove(e.hash, s.entries)
	e.hash, e.overcount = hash, e.count
	e.count += weight
	s.copyText(n, k)
	s.index.insert(hash, n)
	s.siftDown(0)
}

// Total returns the sum of all weights.
func (s *Summary) Total() int64 { return s.total }

// Least returns the largest count that a key without an entry can have.
func (s *Summary) Least() int64 {
	if len(s.entries) < cap(s.entries) {
		return 0
	}
	return s.entries[s.heap[0]].count
}

// Reset forgets everything.
func (s *Summary) Reset() {
	s.total, s.entries, s.heap = 0, s.entries[:0], s.heap[:0]
	s.index.reset()
}

// copyText copies the text of a key.
func (s *Summary) copyText(n uint32, k *Key) {
	at := int(n) * s.width
	size, cut := k.copyTo(s.text[at : at+s.width])
	s.entries[n].size, s.entries[n].cut = uint16(size), cut //nolint:gosec // at most width
}

// name returns the kept text of entry n. It is valid until the next Add.
func (s *Summary) name(n int) []byte {
	at := n * s.width
	return s.text[at : at+int(s.entries[n].size)]
}

func (s *Summary) less(a, b uint32) bool {
	return s.entries[s.heap[a]].count < s.entries[s.heap[b]].count
}

func (s *Summary) swap(a, b uint32) {
	h := s.heap
	h[a], h[b] = h[b], h[a]
	s.entries[h[a]].heapIndex, s.entries[h[b]].heapIndex = a, b
}

// siftDown moves the entry at place down to where no count below it is less.
func (s *Summary) siftDown(place uint32) {
	for {
		least, size := 2*place+1, uint32(len(s.heap)) //nolint:gosec // far below
		if least >= size {
			return
		}
		if right := least + 1; right < size && s.less(right, least) {
			least = right
		}
		if !s.less(least, place) {
			return
		}
		s.swap(place, least)
		place = least
	}
}

func (s *Summary) siftUp(place uint32) {
	for place > 0 {
		above := (place - 1) / 2
		if !s.less(place, above) {
			return
		}
		s.swap(place, above)
		place = above
	}
}

// Sizes in memory, in bytes.
const (
	entryBytes   = 32
	summaryBytes = 120
	numberBytes  = 4
)

// memoryBytes returns how much memory s takes.
func (s *Summary) memoryBytes() int64 {
	return int64(summaryBytes + entryBytes*cap(s.entries) + numberBytes*(cap(s.heap)+len(s.index.slots)) + len(s.text))
}
