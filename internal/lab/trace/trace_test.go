package trace

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// madeUp builds a trace from n requests for a few objects, with a spool of limit
// bytes in memory, and returns the requests it was given too.
func madeUp(t testing.TB, n, objects, limit int) (*Trace, []Access) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	b := newBuilder(false)
	b.trace.requests = newSpool(limit)
	numbers := map[int]uint32{}
	want := make([]Access, n)
	at := int64(1_700_000_000_000_000)
	for i := range want {
		id := rng.IntN(objects)
		if _, ok := numbers[id]; !ok {
			numbers[id] = uint32(len(numbers))
		}
		if rng.IntN(10) == 0 {
			at += rng.Int64N(1 << 33) // hours
		}
		want[i] = Access{Object: numbers[id], At: at * 1000}
		if err := b.add(&request{target: strconv.AppendInt(nil, int64(id), 10), size: int64(id), at: at, timed: true}); err != nil {
			t.Fatal(err)
		}
	}
	tr, err := b.finish()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeTrace(t, tr) })
	return tr, want
}

func TestRequestsComeBackInOrderAndOften(t *testing.T) {
	f := func(n, limit int) {
		t.Helper()
		t.Setenv("TMPDIR", t.TempDir())
		tr, want := madeUp(t, n, 1000, limit)
		if filed := tr.requests.file != nil; filed != (limit < 1000) {
			t.Fatalf("limit %d: in a file: %v", limit, filed)
		}
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				i := 0
				err := tr.Each(t.Context(), func(batch []Access) error {
					for _, a := range batch {
						if a != want[i] {
							t.Errorf("limit %d, request %d: got %+v, want %+v", limit, i, a, want[i])
							return io.EOF
						}
						i++
					}
					return nil
				})
				if err != nil || i != n {
					t.Errorf("limit %d: %d of %d requests, error %v", limit, i, n, err)
				}
			})
		}
		wg.Wait()
	}
	f(1, 1<<20)
	f(batchLen, 1<<20)
	f(3*batchLen+1, 1<<20)
	f(3*batchLen+1, 1)
	f(3*batchLen+1, 100)
}

func TestEachStopsAtAnErrorOrTheEndOfTheContext(t *testing.T) {
	tr, _ := madeUp(t, 2*batchLen, 10, 1<<20)
	why, calls := errors.New("enough"), 0
	if err := tr.Each(t.Context(), func([]Access) error { calls++; return why }); !errors.Is(err, why) || calls != 1 {
		t.Errorf("got %v after %d calls, want the error after one", err, calls)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	calls = 0
	if err := tr.Each(ctx, func([]Access) error { calls++; cancel(why); return nil }); !errors.Is(err, why) || calls != 1 {
		t.Errorf("got %v after %d calls, want the cause after one", err, calls)
	}
}

// TestMemoryGrowsWithObjectsOnly builds a trace whose requests would take 12 MB
// in memory at the least.
func TestMemoryGrowsWithObjectsOnly(t *testing.T) {
	testkit.Plain(t, "it measures the heap, and has one goroutine")
	t.Setenv("TMPDIR", t.TempDir())
	const n, objects = 3_000_000, 500
	b := newBuilder(false)
	b.trace.requests = newSpool(64 << 10)
	var target []byte
	heap := func() int64 {
		runtime.GC()
		runtime.GC() // frees what pools held
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	var before int64
	for i := range n {
		if i == n/10 {
			before = heap()
		}
		target = strconv.AppendInt(target[:0], int64(i*7919%objects), 10)
		if err := b.add(&request{target: target, size: 1, at: int64(i) * 500_000, timed: true}); err != nil {
			t.Fatal(err)
		}
	}
	if grown := heap() - before; grown > 256<<10 {
		t.Errorf("memory grew by %d bytes over %d requests, want none", grown, n)
	}
	tr, err := b.finish()
	if err != nil {
		t.Fatal(err)
	}
	defer closeTrace(t, tr)
	if len(tr.requests.buf) > 0 || tr.requests.written < 4*n {
		t.Errorf("%d bytes in memory, %d in the file; want all in the file", len(tr.requests.buf), tr.requests.written)
	}
	before = heap()
	var last Access
	count := 0
	err = tr.Each(t.Context(), func(batch []Access) error {
		last, count = batch[len(batch)-1], count+len(batch)
		return nil
	})
	if err != nil || count != n || last.At != int64(n-1)*500_000_000 {
		t.Errorf("read back %d requests to %+v, error %v; want %d", count, last, err, n)
	}
	if grown := heap() - before; grown > 256<<10 {
		t.Errorf("memory grew by %d bytes while replaying, want none", grown)
	}
}

func TestTemporaryFileIsNeverLeftBehind(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	empty := func(when string) {
		t.Helper()
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s: got %v, %v; want an empty folder", when, left, err)
		}
	}
	tr, _ := madeUp(t, 1000, 10, 100)
	if runtime.GOOS != "windows" {
		empty("while open")
	}
	for range 2 {
		if err := tr.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	empty("closed")
	if err := tr.Each(t.Context(), func([]Access) error { return nil }); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Each after Close: got %v, want an error", err)
	}
	b := newBuilder(false)
	b.trace.requests = newSpool(1)
	if _, err := collect(t.Context(), []source{brokenSource{}}, b, newMeter(nil, Options{})); !errors.Is(err, errDisk) {
		t.Errorf("got %v, want the error of the source", err)
	}
	if b.trace.requests.file == nil || !closed(b.trace.requests.file) {
		t.Error("after an error: want a file made, and closed")
	}
	empty("after an error")
}

// brokenSource gives a request, then fails.
type brokenSource struct{}

func (brokenSource) total() int64 { return -1 }

func (brokenSource) feed(_ context.Context, b *builder, _ *meter) error {
	return errors.Join(b.add(&request{target: []byte("a")}), errDisk)
}

func closed(f *os.File) bool { return errors.Is(f.Close(), os.ErrClosed) }

// TestNameThatStays covers systems that keep the name of an open file.
func TestNameThatStays(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	s := spool{file: file, name: file.Name()}
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if _, err := os.Stat(file.Name()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after Close: got %v, want no file", err)
	}
}

func TestFullDiskIsAnError(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()+"/none")
	b := newBuilder(false)
	b.trace.requests = newSpool(1)
	if err := b.add(&request{target: []byte("a")}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder for the file: got %v, want that it does not exist", err)
	}
	readOnly, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	b.trace.requests.file = readOnly
	if err := b.add(&request{target: []byte("a")}); err == nil {
		t.Error("a file that takes nothing: got no error")
	}
	if err := b.trace.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func TestCutFileIsAnError(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	tr, _ := madeUp(t, 1000, 10, 100)
	if err := tr.requests.file.Truncate(500); err != nil {
		t.Fatal(err)
	}
	if err := tr.Each(t.Context(), func([]Access) error { return nil }); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v, want unexpected EOF: the end must not be taken for the trace's", err)
	}
}

func TestTooManyObjectsAreRefused(t *testing.T) {
	b := newBuilder(false)
	b.maxObjects = 2
	for i, want := range []error{nil, nil, nil, errTooMany, nil} {
		if err := b.add(&request{target: []byte{"aabcb"[i]}}); !errors.Is(err, want) {
			t.Errorf("request %d: got %v, want %v", i, err, want)
		}
	}
}

// TestIndexAgreesWithAMap takes hashes that crowd the same slots.
func TestIndexAgreesWithAMap(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var x index
	x.grow(nil)
	var objects []Object
	model := map[Object]uint32{}
	for range 20_000 {
		o := Object{Hi: rng.Uint64N(3), Lo: rng.Uint64N(2)<<40 | rng.Uint64N(2000)}
		slot, n, ok := x.find(objects, o.Hi, o.Lo)
		if want, known := model[o]; ok != known || ok && n != want {
			t.Fatalf("%+v: got %d, %v; want %d, %v", o, n, ok, want, known)
		}
		if !ok {
			model[o] = uint32(len(objects))
			objects = append(objects, o)
			x.insert(slot, objects)
		}
	}
	if len(x.slots) > 4*len(objects) || len(x.slots) < len(objects)*4/3 {
		t.Errorf("%d slots for %d objects, want at most 3/4 full and not far below 3/8", len(x.slots), len(objects))
	}
}

// TestHashesStayTheSame: what was measured with a sample of the objects can be
// measured again.
func TestHashesStayTheSame(t *testing.T) {
	o := read(t, "1 7 10\n", Options{}).Objects()[0]
	if want := (Object{Size: 10, Hi: 0x79b28105e49e696e, Lo: 0x8221c98aa94a93e0}); o != want {
		t.Errorf("got %#x, %#x; want %#x, %#x", o.Hi, o.Lo, want.Hi, want.Lo)
	}
}

func TestKeysAreKeptOnlyWhenAsked(t *testing.T) {
	tr, err := Read(t.Context(), []string{"-"}, Options{Input: bytes.NewReader([]byte("1 a 1\n"))})
	if err != nil {
		t.Fatal(err)
	}
	defer closeTrace(t, tr)
	defer func() {
		if recover() == nil {
			t.Error("Key of a trace without keys: want a panic")
		}
	}()
	tr.Key(0)
}

// TestASpellingOfATargetIsNoObject: a log has targets as clients sent them, and %d0%bf and %D0%BF were two objects in a replay, each with a first
// sighting. The proxy has one key for both.
func TestASpellingOfATargetIsNoObject(t *testing.T) {
	for name, text := range map[string]string{
		"combined": `h - - [01/Aug/1995:00:00:01 -0400] "GET /%d0%bf/%7Eme?q=%2f HTTP/1.1" 200 10` + "\n" +
			`h - - [01/Aug/1995:00:00:02 -0400] "GET /%D0%BF/~me?%71=%2F HTTP/1.1" 200 10` + "\n" +
			`h - - [01/Aug/1995:00:00:03 -0400] "GET /\xD0\xBF/~me?q=%2F HTTP/1.1" 200 10` + "\n",
		"json": `{"target":"/%d0%bf/%7Eme?q=%2f","method":"GET","status":200,"bytes":10,"time":1}` + "\n" +
			`{"target":"/%D0%BF/~m%65?q=%2F","method":"GET","status":200,"bytes":10,"time":2}` + "\n" +
			`{"target":"/\u043f/~me?q=%2F","method":"GET","status":200,"bytes":10,"time":3}` + "\n",
	} {
		tr := read(t, text, Options{})
		if facts := tr.Facts(); facts.Objects != 1 || facts.Requests != 3 {
			t.Errorf("%s: got %d objects of %d requests, want 1 of 3", name, facts.Objects, facts.Requests)
		}
		if _, target := tr.Key(0); target != "/%D0%BF/~me?q=%2F" {
			t.Errorf("%s: got %s as key", name, target)
		}
	}
}
