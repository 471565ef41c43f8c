package index

import (
	"math/bits"
	"math/rand/v2"
	"sync"
	"sync/atomic"
)

// FullLoad is the load at which an index holds the objects it was made for.
// Above it words get lost: 0.01 % of them at 0.95.
const FullLoad = 0.9

const (
	bucketSlots = 8 // a cache line
	shards      = 256
)

// Index is the table. Its methods may be called concurrently.
type Index struct {
	buckets []bucket
	moves   [shards]atomic.Uint32 // for each tag: words that went to their other bucket
	writers [shards]shard         // locks of writers, each for some tags
	classes [MaxClass + 1]atomic.Int64
}

// bucket is a cache line of words.
type bucket [bucketSlots]atomic.Uint64

// shard lets writers of its tags take turns. While it is held, other writers
// change nothing of a word of these tags but its hits.
type shard struct {
	mu    sync.Mutex
	words atomic.Int64
	_     [48]byte
}

// pair is a key's two buckets. In a small table they may be one and the same.
type pair struct{ first, other int }

// New returns an empty index for that many objects. Its size never changes.
func New(objects int) *Index {
	slots := float64(max(objects, 1)) / FullLoad
	x := &Index{buckets: make([]bucket, 2+int(slots/bucketSlots))}
	useHugePages(x.buckets)
	return x
}

// Len returns the number of words. While writers are at work it is a moment's.
func (x *Index) Len() int {
	sum := int64(0)
	for i := range x.writers {
		sum += x.writers[i].words.Load()
	}
	return int(sum)
}

// Classes returns the number of words of each class of Place. While writers are at work it is a moment's.
func (x *Index) Classes() (words [MaxClass + 1]int64) {
	for i := range x.classes {
		words[i] = x.classes[i].Load()
	}
	return words
}

// Sample looks at about so many words, or at all if there are not more: those of buckets at equal distances. It returns how many it found of each
// class of Place, and how many of these have hits. While writers are at work, a word may be missing or be counted twice.
func (x *Index) Sample(most int) (words, hit [MaxClass + 1]int64) {
	step := max(1, len(x.buckets)*bucketSlots/most)
	for n := rand.IntN(step); n < len(x.buckets); n += step { //nolint:gosec // a sample
		for i := range x.buckets[n] {
			w := word(x.buckets[n][i].Load())
			if w == 0 {
				continue
			}
			class := w.place().Class
			words[class]++
			if w.hits() > 0 {
				hit[class]++
			}
		}
	}
	return words, hit
}

// came and left count a word, whose shard is held.
func (x *Index) came(w word) {
	x.writers[shardOf(w.tag())].words.Add(1)
	x.classes[w.place().Class].Add(1)
}

func (x *Index) left(w word) {
	x.writers[shardOf(w.tag())].words.Add(-1)
	x.classes[w.place().Class].Add(-1)
}

// Load returns the share of slots in use, from 0 to 1.
func (x *Index) Load() float64 {
	return float64(x.Len()) / float64(len(x.buckets)*bucketSlots)
}

// Bytes returns the memory of the table.
func (x *Index) Bytes() int64 { return int64(len(x.buckets)) * bucketSlots * 8 }

// homes returns the buckets of hash h and tag t. The upper bits of h choose the
// first bucket, so they and the tag, which is the lower ones, share none.
func (x *Index) homes(h uint64, t tag) pair {
	first, _ := bits.Mul64(h, uint64(len(x.buckets)))
	return pair{int(first), x.partner(int(first), t)}
}

// partner returns the other bucket of a word of tag t in bucket b. The partner of
// the partner is b: both add up to a number that t alone gives.
func (x *Index) partner(b int, t tag) int {
	sum, _ := bits.Mul64(uint64(t)*0x9e3779b97f4a7c15, uint64(len(x.buckets)))
	p := int(sum) - b
	if p < 0 {
		p += len(x.buckets)
	}
	return p
}

func shardOf(t tag) int { return int(t % shards) }
