package sliced_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/proxy/internal/sliced"
)

// piece is a slice of one version of the representation.
type piece struct {
	head    sliced.Head
	body    []byte
	fails   int64 // the place in it where reading fails; -1: nowhere
	largest int   // bytes that one Read gives
	at      int64
	left    bool
	closed  bool
}

var errBroken = errors.New("broken")

func (p *piece) Head() sliced.Head { return p.head }
func (p *piece) Leave()            { p.left = true }
func (p *piece) Close()            { p.closed = true }

func (p *piece) Read(b []byte, at int64) (int, error) {
	if at < p.at {
		panic("reads what was read before")
	}
	body := p.body
	if p.fails >= 0 {
		body = body[:p.fails]
	}
	if at >= int64(len(body)) {
		if p.fails >= 0 {
			return 0, errBroken
		}
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), p.largest)], body[at:])
	p.at = at + int64(n)
	return n, nil
}

// version returns the bytes of a representation.
func version(n, length int) []byte {
	b := make([]byte, length)
	for i := range b {
		b[i] = byte(i*7 + n*31 + i/251)
	}
	return b
}

// origin is a Source: an origin whose representation may change, and a store before it.
type origin struct {
	size    int64
	now     int // the version
	length  int
	stored  map[int64]*piece
	random  *rand.Rand
	got     []int64 // numbers that were asked for
	given   []*piece
	fails   func(number int64) int64 // where a new slice breaks off; nil: nowhere
	resumes sliced.Again
	rests   []rfc9111.Range
	failure error // the error of Get
}

func newOrigin(size int64, length int) *origin {
	return &origin{size: size, length: length, stored: map[int64]*piece{}, random: rand.New(rand.NewPCG(3, uint64(length)))}
}

// piece returns a slice of a version.
func (o *origin) piece(number int64, v int, stored bool) *piece {
	whole := version(v, o.length)
	span := sliced.Span(o.size, number)
	p := &piece{fails: -1, largest: 1 + o.random.IntN(int(o.size)+3), head: sliced.Head{
		Stored: stored, Tells: true, Received: time.Unix(int64(v), 0),
		Representation: rfc9111.Representation{Status: 200, ETag: fmt.Sprintf(`"%d"`, v)},
	}}
	if span.First < int64(o.length) {
		span.Last = min(span.Last, int64(o.length)-1)
		p.head.Part = rfc9111.Part{Range: span, Size: int64(o.length)}
		p.body = whole[span.First : span.Last+1]
	}
	return p
}

func (o *origin) Find(number int64) (*piece, bool) {
	p, ok := o.stored[number]
	return p, ok
}

func (o *origin) Get(number int64) (*piece, error) {
	o.got = append(o.got, number)
	if o.failure != nil {
		return nil, o.failure
	}
	p, ok := o.stored[number]
	if !ok {
		p = o.piece(number, o.now, false)
		if o.fails != nil {
			p.fails = o.fails(number)
		}
	}
	o.given = append(o.given, p)
	return p, nil
}

func (o *origin) Discard(p *piece) {
	for number, held := range o.stored {
		if held == p {
			delete(o.stored, number)
		}
	}
}

func (o *origin) Resume(p *piece, _ error, rest rfc9111.Range) sliced.Again {
	o.rests = append(o.rests, rest)
	if o.resumes == sliced.Resumed {
		p.fails = -1
	}
	o.fails = nil
	return o.resumes
}

// reader begins an answer of these bytes, with the slice of this number.
func (o *origin) reader(t *testing.T, number, first, length int64) *sliced.Reader[*piece] {
	t.Helper()
	p, err := o.Get(number)
	r := sliced.New[*piece](o, o.size)
	if err != nil || !r.Begin(p, number) {
		t.Fatalf("slice %d: got no part, %v", number, err)
	}
	r.Select(first, length)
	if err := r.Open(); err != nil {
		t.Fatal(err)
	}
	return &r
}

// Any range of a representation comes byte by byte, by one slice at a time, and none is got twice.
func TestReaderGivesTheRange(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		size, length := 1+random.Int64N(40), 1+random.IntN(300)
		o := newOrigin(size, length)
		o.now = 1
		for number := int64(0); number*size < int64(length); number++ {
			if random.IntN(2) == 0 {
				o.stored[number] = o.piece(number, 1, true)
			}
		}
		first := random.Int64N(int64(length))
		last := first + random.Int64N(int64(length)-first)
		r := o.reader(t, first/size, first, last-first+1)
		if got, want := r.OneIsEnough(), first/size == last/size; got != want {
			t.Fatalf("OneIsEnough: got %v, want %v", got, want)
		}
		got, err := io.ReadAll(r)
		if err != nil || !bytes.Equal(got, version(1, length)[first:last+1]) {
			t.Fatalf("bytes %d to %d of %d in slices of %d: got %d bytes and %v", first, last, length, size, len(got), err)
		}
		for i, number := range o.got {
			if number != first/size+int64(i) {
				t.Fatalf("got the slices %v", o.got)
			}
		}
		for _, p := range o.given {
			if !p.left && !p.closed {
				t.Fatal("a slice was not let go of")
			}
		}
	}
}

// The slice that tells the size need not be the one that the answer begins with.
func TestReaderOpensTheFirstSliceOfTheAnswer(t *testing.T) {
	o := newOrigin(10, 100)
	r := o.reader(t, 0, 95, 5)
	if !o.given[0].left {
		t.Error("the slice that told the size is still open")
	}
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, version(0, 100)[95:]) {
		t.Errorf("got %d bytes and %v", len(got), err)
	}
	if _, ok := r.Slice(); ok {
		t.Error("a slice is open behind the end")
	}
}

func TestWhatIsNoPartTellsNothing(t *testing.T) {
	o := newOrigin(10, 5)
	r := sliced.New[*piece](o, o.size)
	if r.Begin(o.piece(1, 0, false), 1) {
		t.Error("got true")
	}
}

// No answer has bytes of two versions, whichever slices are stored and whenever the origin changes.
func TestNoAnswerMixesTwoVersions(t *testing.T) {
	random, whole, cut := rand.New(rand.NewPCG(7, 8)), 0, 0
	for range 3000 {
		const size, length = 10, 95
		o := newOrigin(size, length)
		for number := range int64(10) {
			if random.IntN(2) == 0 {
				o.stored[number] = o.piece(number, random.IntN(3), true)
			}
		}
		o.now = 2
		r := o.reader(t, 0, 0, length)
		rep, _ := r.Whole()
		got, err := io.ReadAll(r)
		r.Close()
		switch {
		case err == nil:
			whole++
			if len(got) != length {
				t.Fatalf("got %d bytes, want %d", len(got), length)
			}
		case errors.Is(err, sliced.ErrChanged):
			cut++
		default:
			t.Fatal(err)
		}
		for v := range 3 {
			if rep.ETag == fmt.Sprintf(`"%d"`, v) && !bytes.Equal(got, version(v, length)[:len(got)]) {
				t.Fatalf("got other bytes than those of version %d", v)
			}
		}
	}
	if whole == 0 || cut == 0 {
		t.Errorf("got %d whole answers and %d that were cut, want some of both", whole, cut)
	}
}

func TestChangeForgetsTheOlder(t *testing.T) {
	t.Run("slice", func(t *testing.T) {
		o := newOrigin(10, 20)
		o.stored[0], o.stored[1] = o.piece(0, 2, true), o.piece(1, 1, true)
		o.now = 2
		got, err := io.ReadAll(o.reader(t, 0, 0, 20))
		if err != nil || !bytes.Equal(got, version(2, 20)) {
			t.Errorf("got %d bytes and %v", len(got), err)
		}
		if o.stored[1] != nil {
			t.Error("the older slice is still stored")
		}
	})
	t.Run("beginning", func(t *testing.T) {
		o := newOrigin(10, 20)
		o.stored[0] = o.piece(0, 1, true)
		o.now = 2
		got, err := io.ReadAll(o.reader(t, 0, 0, 20))
		if !errors.Is(err, sliced.ErrChanged) || len(got) != 10 {
			t.Errorf("got %d bytes and %v, want 10 and ErrChanged", len(got), err)
		}
		if o.stored[0] != nil {
			t.Error("the slice that the answer began with is still stored")
		}
	})
	t.Run("neither, where the origin only fails", func(t *testing.T) {
		o := newOrigin(10, 20)
		o.stored[0] = o.piece(0, 1, true)
		r := o.reader(t, 0, 0, 20)
		o.stored[1] = &piece{fails: -1, head: sliced.Head{}} // a 500, say
		if _, err := io.ReadAll(r); !errors.Is(err, sliced.ErrChanged) || o.stored[0] == nil {
			t.Errorf("got %v, and stored %v", err, o.stored[0] != nil)
		}
	})
}

func TestSliceThatBreaksOff(t *testing.T) {
	for _, again := range []sliced.Again{sliced.Ends, sliced.Resumed, sliced.Anew} {
		o := newOrigin(10, 25)
		r := o.reader(t, 0, 0, 25)
		o.resumes, o.fails = again, func(int64) int64 { return 3 }
		got, err := io.ReadAll(r)
		if len(o.rests) != 1 || o.rests[0] != (rfc9111.Range{First: 13, Last: 19}) {
			t.Errorf("%v: asked to resume %v, want 13 to 19", again, o.rests)
		}
		if again == sliced.Ends {
			if !errors.Is(err, errBroken) || !bytes.Equal(got, version(0, 25)[:13]) {
				t.Errorf("got %d bytes and %v, want 13 and the failure", len(got), err)
			}
			continue
		}
		if err != nil || !bytes.Equal(got, version(0, 25)) {
			t.Errorf("%v: got %d bytes and %v, want all", again, len(got), err)
		}
	}
}

func TestSliceThatIsTooShortIsNoEnd(t *testing.T) {
	o := newOrigin(10, 25)
	r := o.reader(t, 0, 0, 25)
	p := o.piece(1, 0, true)
	p.body = p.body[:4]
	o.stored[1] = p
	if got, err := io.ReadAll(r); !errors.Is(err, io.ErrUnexpectedEOF) || len(got) != 14 {
		t.Errorf("got %d bytes and %v, want 14 and an unexpected end", len(got), err)
	}
}

func TestFailureToGetASliceEndsTheAnswer(t *testing.T) {
	o := newOrigin(10, 25)
	r := o.reader(t, 0, 0, 25)
	o.failure = errBroken
	if got, err := io.ReadAll(r); !errors.Is(err, errBroken) || len(got) != 10 {
		t.Errorf("got %d bytes and %v, want 10 and the failure", len(got), err)
	}
	r.Close()
	r.Close()
}
