package disk_test

import (
	"container/list"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/zeebo/xxh3"

	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/cache/disk"
	"edgeproxy/internal/lab/model"
	"edgeproxy/internal/lab/trace"
	"edgeproxy/internal/test/testkit"
)

// The requests of these tests are for many small objects and some large ones, which take most of the bytes.
const (
	askedObjects = 4000
	askedBytes   = 48 << 20 // limit of the disk
)

func lengthOf(n int) int {
	if n%7 == 0 {
		return 64<<10 + n*977%(256<<10)
	}
	return 1000 + n*977%24_000
}

// asked returns objects, the popular ones by a power law but for a third of the requests.
func asked(seed uint64, requests int) []int {
	rng := rand.New(rand.NewPCG(1, seed))
	out := make([]int, requests)
	for i := range out {
		out[i] = int(math.Pow(askedObjects, rng.Float64())) - 1
		if i%3 == 0 {
			out[i] = rng.IntN(askedObjects)
		}
	}
	return out
}

// played returns how many are hits of a Store that stores the others, and what it has done.
func played(t *testing.T, requests []int) (hits int, stats disk.Stats) {
	t.Helper()
	s, err := disk.Open(disk.Options{
		Path: t.TempDir(), MaxBytes: askedBytes, MeanObjectBytes: 8 << 10,
		ReadWait: testkit.Patience, ReadDeadline: testkit.Patience, Deadline: testkit.Patience, // a machine that does much else is no slow device
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	try := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var hit disk.Hit
	for i, n := range requests {
		key := fmt.Appendf(nil, "GET http://example.com/%d", n)
		if h := xxh3.HashSeed(key, s.Seed()); s.Find(h, key, &hit) {
			hit.Close()
			hits++
		} else {
			try(s.Put(h, key, nil, make([]byte, lengthOf(n))))
		}
		if i%20 == 0 {
			try(s.Flush())
		}
	}
	try(s.Flush())
	return hits, s.Stats()
}

// A hand that goes over the large records in the order of writing alone comes near the newest of them at times. All segments
// of small ones are older than these, and went. So hits are held to those of exact LRU of the same size.
func TestSmallRecordsDoNotGoForALargeOneThatIsYoung(t *testing.T) {
	testkit.Slow(t, "6 seconds")
	testkit.Plain(t, "20,000 requests of one goroutine, and as many to an exact LRU")
	requests := asked(2, 20_000)
	exact := lru{at: map[int]*list.Element{}}
	want := 0
	for _, n := range requests {
		if exact.hit(n) {
			want++
		}
	}
	if hits, _ := played(t, requests); hits < want-len(requests)*2/100 {
		t.Errorf("%d hits of %d requests, want those of exact LRU of that size, %d, less 2 points at most", hits, len(requests), want)
	}
}

// What simulate --disk foretells is what the store does: its hits, its bytes and its objects.
func TestTheModelForetellsTheStore(t *testing.T) {
	testkit.Slow(t, "3 seconds")
	testkit.Plain(t, "12,000 requests of one goroutine, and as many to the model")
	requests := asked(3, 12_000)
	objects := make([]trace.Object, askedObjects)
	for n := range objects {
		objects[n].Size = int64(lengthOf(n))
	}
	m, err := model.New(model.Setting{
		Rule: policy.Rule{Policy: policy.Always}, CapacityBytes: 1, DiskBytes: askedBytes, Eviction: model.LRU,
	}, objects)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, n := range requests {
		m.Request(trace.Access{Object: uint32(n)})
	}
	want := m.Result()
	hits, got := played(t, requests)
	t.Logf("hits %d, model %d; written %d, model %d; of it again %d, model %d; objects %d, model %d",
		hits, want.Hits, got.WriteBytes, want.DiskWriteBytes, got.RewriteBytes, want.DiskRewrittenBytes, got.Objects, want.Objects)
	near := func(what string, got, want int64, share float64) {
		t.Helper()
		if math.Abs(float64(got-want)) > share*float64(want) {
			t.Errorf("%s: got %d, the model %d, want at most %.0f %% between them", what, got, want, 100*share)
		}
	}
	near("hits", int64(hits), want.Hits, 0.03)
	near("bytes written", got.WriteBytes, want.DiskWriteBytes, 0.10)
	near("objects held", got.Objects, want.Objects, 0.10)
}

// lru is an exact one. What it lacks it stores.
type lru struct {
	at    map[int]*list.Element
	order list.List // newest first
	bytes int
}

func (l *lru) hit(n int) bool {
	if e := l.at[n]; e != nil {
		l.order.MoveToFront(e)
		return true
	}
	l.bytes += lengthOf(n)
	l.at[n] = l.order.PushFront(n)
	for l.bytes > askedBytes {
		last := l.order.Remove(l.order.Back()).(int)
		l.bytes -= lengthOf(last)
		delete(l.at, last)
	}
	return false
}
