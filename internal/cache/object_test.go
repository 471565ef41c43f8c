package cache

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"edgeproxy/internal/conn/pinned"
	"edgeproxy/internal/http/field"
)

// drawnResponse is drawnEntry as an origin may have sent it.
func drawnResponse(r *rand.Rand) *Entry {
	e := drawnEntry(r)
	e.ResponseTime = time.Unix(1_700_000_000+r.Int64N(1<<28), r.Int64N(1e9)).UTC()
	for i := range e.Vary {
		e.Vary[i] = field.Canonical("x-" + strings.Repeat("y", r.IntN(9)))
	}
	if len(e.Vary) == 0 {
		e.URL, e.URLLen = e.Key, int32(len(e.Name))
	}
	for i := range e.Header {
		e.Header[i] = field.Field{Name: field.Canonical("x-" + strings.Repeat("z", r.IntN(9))), Value: strings.Repeat("v", r.IntN(100))}
	}
	if r.IntN(2) == 0 {
		p := &e.Policy
		for _, d := range []*time.Duration{&p.Lifetime, &p.WhileRevalidate, &p.IfError, &p.OriginFailure, &p.Keep} {
			*d = time.Duration(r.Uint32()) * time.Second
		}
	}
	if len(e.Name) == 0 {
		e.Name = nil
	}
	content := make([]byte, r.IntN(200))
	for i := range content {
		content[i] = byte(r.Uint32())
	}
	if len(content) == 0 {
		content = nil
	}
	e.Content = InMemory(content)
	return e
}

// An Object is the response that it was made of, wherever its parts lie, and so are its copies.
func TestObjectsAreTheEntriesThatTheyWereMadeOf(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 3000 {
		e := drawnResponse(r)
		other := InMemory([]byte("another"))
		whole, apart := newObject(e, true), NewObject(e)
		whole.use()
		swapped := *e
		swapped.Content = other
		for name, o := range map[string]struct {
			got  *Object
			want *Entry
		}{
			"whole": {whole, e}, "apart": {apart, e}, "whole, again": {whole.clone(), e}, "apart, again": {apart.clone(), e},
			"whole, with another content": {whole.withContent(other, nil), &swapped}, "apart, with another": {apart.withContent(other, nil), &swapped},
		} {
			got := o.got.Entry()
			if !got.ResponseTime.Equal(e.ResponseTime) {
				t.Fatalf("%s: got the time %v, want %v", name, got.ResponseTime, e.ResponseTime)
			}
			got.ResponseTime = e.ResponseTime
			if len(got.Header) == 0 {
				got.Header = nil
			}
			if !reflect.DeepEqual(got, o.want) {
				t.Fatalf("%s: got %+v\nwant %+v", name, got, o.want)
			}
			if o.got.cost() != o.want.Cost() || o.got.weight() != o.want.weight() {
				t.Fatalf("%s: got %+v, want %+v", name, o.got.weight(), o.want.weight())
			}
			if o.got.Lifetime() != e.Policy.Lifetime || !o.got.variesBy(e.Vary) || o.got.variesBy(append([]string{"X"}, e.Vary...)) {
				t.Fatalf("%s: got %v by %q", name, o.got.Lifetime(), o.got.Vary())
			}
			if marked := o.got.asked(); marked != (name == "whole") {
				t.Fatalf("%s: asked for: %v", name, marked)
			}
		}
	}
}

// What an Object gives stays as it was, whatever its maker does to what it was made of, and when
// the Store has let go of it.
func TestWhatIsStoredIsACopy(t *testing.T) {
	s := newStore(t, 1<<20, 64<<10)
	e := plain("/a", 1, 1000)
	e.Header.Add("X", "y")
	e.Tags = []uint64{7}
	mustPut(t, s, e)
	o, _ := s.Find(e.Key, []byte("/a"))
	clear(e.Name)
	clear(e.Tags)
	clear(e.Content.bytes)
	e.Header[0].Value = "z"
	s.Discard(o)
	for i := range 200 {
		mustPut(t, s, plain("/other/"+string(rune('a'+i)), uint64(i), 3000))
	}
	if got := o.Entry(); string(got.Name) != "/a" || got.Tags[0] != 7 || got.Header[0].Value != "y" || !bytes.Equal(got.Content.bytes, body(1, 1000)) {
		t.Errorf("got %+v", got)
	}
}

// A short content lies in the block of its Object and is copied; a longer one stays where it is.
func TestShortContentLiesInTheBlock(t *testing.T) {
	s := newStore(t, 1<<20, 64<<10)
	for size, copied := range map[int]bool{8: true, pinned.Least: true, pinned.Least + 1: false} {
		e := plain("/a", 1, size)
		mustPut(t, s, e)
		o, _ := s.Find(e.Key, e.Name)
		if b, _ := o.Content().Bytes(); len(b) != size || cap(b) > size && copied || (&b[0] != &e.Content.bytes[0]) != copied {
			t.Errorf("%d bytes: got %d with room for %d, copied: %v, want %v", size, len(b), cap(b), &b[0] != &e.Content.bytes[0], copied)
		}
		if o.Pin() != nil {
			t.Errorf("%d bytes: got a pin of a store that counts none", size)
		}
	}
}

// An Object holds no pointer, and its time has a reading of the monotonic clock all the same: else a
// step of the wall clock would make what is stored older or younger. Where the wall clock has stepped
// since the epoch, the time is kept as the wall clock had it.
func TestTimesKeepTheMonotonicClock(t *testing.T) {
	now := time.Now()
	old := epoch.Swap(&now)
	t.Cleanup(func() { epoch.Store(old) })
	for name, want := range map[string]time.Time{"received": now.Add(3*time.Hour + 1), "read from a file": now.Add(-time.Hour).Round(0)} {
		got := NewObject(&Entry{ResponseTime: want}).ResponseTime()
		if !got.Equal(want) || !got.Round(0).Equal(want.Round(0)) || !monotonic(got) {
			t.Errorf("%s: got %v, want %v by both clocks", name, got, want)
		}
	}
	// No two clocks that run alike are that far apart.
	want := time.Date(1700, 1, 1, 0, 0, 0, 1, time.UTC)
	if got := NewObject(&Entry{ResponseTime: want}).ResponseTime(); !got.Equal(want) || monotonic(got) {
		t.Errorf("after a step: got %v, want %v by the wall clock alone", got, want)
	}
	if got := NewObject(&Entry{}).ResponseTime(); !got.IsZero() {
		t.Errorf("of no time: got %v", got)
	}
}

// monotonic reports whether t has a reading of the monotonic clock.
func monotonic(t time.Time) bool { return strings.Contains(t.String(), " m=") }

// Uses fade, and whether it was asked for stays.
func TestMarks(t *testing.T) {
	o := newObject(variant("/a", "b", 8, "Accept"), true)
	for range 5 {
		o.use()
	}
	o.fade()
	if !o.asked() || o.uses() != 2 {
		t.Errorf("got asked %v and %d uses, want 2 of 5", o.asked(), o.uses())
	}
	next := o.clone()
	next.follow(o)
	if next.asked() || next.uses() != 2 {
		t.Errorf("the next: got asked %v and %d uses, want no and 2", next.asked(), next.uses())
	}
	next.copyMarks(o)
	if !next.asked() || next.uses() != 2 {
		t.Errorf("in its place: got asked %v and %d uses, want yes and 2", next.asked(), next.uses())
	}
	o = newObject(plain("/a", 0, 8), true)
	if o.use(); !o.asked() || o.uses() != 0 {
		t.Errorf("no variant: got asked %v and %d uses, want no use counted", o.asked(), o.uses())
	}
}
