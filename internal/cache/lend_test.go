package cache

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"

	"edgeproxy/internal/cache/disk"
	"edgeproxy/internal/http/field"
)

// Bodies that were lent and given back are read into memory that others have had. None of them shows in another's.
func TestMemoryThatIsGivenBackIsNobodysContent(t *testing.T) {
	s, d := newStoreOnDisk(t, usualOptions())
	sizes := []int{0, 1, 900, 7000, 17_000, 18_000, 39_000, 63_000}
	bodies := map[string][]byte{}
	for n, size := range sizes {
		url := fmt.Sprintf("/%d", n)
		e := plain(url, 1, size)
		bodies[url] = bytes.Repeat([]byte{byte('a' + n)}, size)
		e.Content = InMemory(bodies[url])
		mustPut(t, s, e)
	}
	if err := d.Flush(); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			var kept []*Object // what a flight would keep
			for i := range 200 {
				url := fmt.Sprintf("/%d", (g+i)%len(sizes))
				o, _ := s.Load(sum(url), []byte(url))
				if o == nil {
					t.Errorf("%s is not found", url)
					return
				}
				if got, _ := o.Content().Bytes(); !bytes.Equal(got, bodies[url]) {
					t.Errorf("%s: other bytes", url)
				}
				if i%20 == 0 {
					kept = append(kept, o)
				} else if lease := o.Lend(nil); lease == nil || lease.Close() != nil || lease.Close() != nil {
					t.Errorf("%s: nothing was lent", url)
				}
			}
			for _, o := range kept {
				if got, _ := o.Content().Bytes(); !bytes.Equal(got, bodies[string(o.Name())]) {
					t.Errorf("%s: other bytes at the end", o.Name())
				}
			}
		})
	}
	all.Wait()
}

// counted counts how often it was closed.
type counted int

func (c *counted) Close() error { *c++; return nil }

func TestWhatIsLentClosesWhatItShould(t *testing.T) {
	s, d := newStoreOnDisk(t, usualOptions())
	mustPut(t, s, plain("/a", 1, 5000))
	if err := d.Flush(); err != nil {
		t.Fatal(err)
	}
	o, _ := s.Load(sum("/a"), []byte("/a"))
	var also counted
	lease := o.Lend(&also)
	for range 2 {
		if err := lease.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if also != 1 {
		t.Errorf("closed %d times, want once", also)
	}
	if got := NewObject(o.Entry()).Lend(&also); got != &also {
		t.Errorf("an Object from elsewhere: got %v, want what was given", got)
	}
}

// What is copied to memory, or shared, is not in memory that is lent.
func TestACopyInMemoryIsNotLent(t *testing.T) {
	s, d := newStoreOnDisk(t, usualOptions())
	const size = 30_000
	e := plain("/a", 1, size)
	want := bytes.Repeat([]byte("a"), size)
	e.Content = InMemory(want)
	mustPut(t, s, e)
	other := plain("/b", 1, size)
	other.Content = InMemory(bytes.Repeat([]byte("b"), size))
	mustPut(t, s, other)
	if err := d.Flush(); err != nil {
		t.Fatal(err)
	}
	var copied *Object
	for range 3 {
		o, _ := s.Load(sum("/a"), []byte("/a"))
		if c := s.Keep(o, never); c != nil {
			copied = c
		}
		if lease := o.Lend(nil); lease == nil || lease.Close() != nil {
			t.Fatal("nothing was lent")
		}
		if o, _ := s.Load(sum("/b"), []byte("/b")); o == nil { // into the same memory
			t.Fatal("the other is not found")
		}
	}
	if copied == nil {
		t.Fatal("no copy was made")
	}
	if got, _ := copied.Content().Bytes(); !bytes.Equal(got, want) {
		t.Error("the copy in memory has changed")
	}
	if copied.Lend(nil) != nil {
		t.Error("the copy is lent")
	}
}

// The head that is kept of a record is not what stands there after a renewal.
func TestAKeptHeadIsRenewed(t *testing.T) {
	s, d := newStoreOnDisk(t, usualOptions())
	e := plain("/a", 1, 100_000)
	e.Serial, e.Header = 7, field.List{{Name: "X", Value: "old"}}
	mustPut(t, s, e)
	if err := d.Flush(); err != nil {
		t.Fatal(err)
	}
	header := func() string {
		t.Helper()
		o, _ := s.Load(sum("/a"), []byte("/a"))
		if o == nil {
			t.Fatal("not found")
		}
		defer s.Release(o)
		return string(o.Header())
	}
	for range 4 {
		if got := header(); !strings.Contains(got, "old") {
			t.Fatalf("got %q", got)
		}
	}
	renewed := *e
	renewed.Serial, renewed.Header = 8, field.List{{Name: "X", Value: "new"}}
	s.mu.Lock()
	noted := s.noteRenewalLocked(&renewed, 7)
	s.unlock()
	if !noted {
		t.Fatal("the renewal was not noted")
	}
	for range 2 {
		if got := header(); !strings.Contains(got, "new") {
			t.Errorf("got %q", got)
		}
	}
	var hit disk.Hit
	defer hit.Free()
	h := s.disk.hash([]byte("/a"))
	if !d.Find(h, []byte("/a"), &hit) || hit.Memo() == nil {
		t.Error("no head is kept: this proves nothing")
	}
}
