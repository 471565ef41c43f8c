package disk

import (
	"bytes"
	"errors"
	"testing"

	"edgeproxy/internal/cache/buffer"
)

// A body in a Buffer belongs to the queue until it is written, and to a reader that found it there for as long as it likes. Then
// all memory that was given back is overwritten.
func TestABodyInABufferStaysWhileSomebodyReadsIt(t *testing.T) {
	s := open(t, Options{Path: t.TempDir(), MaxBytes: MinBytes})
	const length, records = 3000, 200
	var found [records]Hit
	for n := range records {
		b := buffer.Get(length)
		copy(b.Bytes(), bodyOf(n, 1, length))
		if err := s.PutBuffer(hashOf(keyOf(n)), keyOf(n), blockOf(n, 1), b); err != nil {
			t.Fatal(err)
		}
		b.Release()
		if n%2 == 0 && !s.Find(hashOf(keyOf(n)), keyOf(n), &found[n]) {
			t.Fatalf("key %d: not found in the queue", n)
		}
	}
	settle(t, s)
	for range 2 * records {
		clear(buffer.Get(length).Bytes())
	}
	for n := range records {
		if n%2 == 0 && !bytes.Equal(found[n].Body, bodyOf(n, 1, length)) {
			t.Errorf("key %d: the body that was found in the queue has changed", n)
		}
		found[n].Close()
		holds(t, s, n, 1, length)
	}
}

// The queue gives a Buffer back once, however its record ends: written, replaced, removed, or refused.
func TestTheQueueGivesABufferBackOnce(t *testing.T) {
	q := newQueue(10_000)
	add := func(h uint64, length int64) (*put, *buffer.Buffer, error) {
		b := buffer.Get(length)
		p := &put{buffer: b}
		p.Hash, p.Body, p.shape.Bytes = h, b.Bytes(), length
		err := q.add(p)
		return p, b, err
	}
	// isGivenBack reports whether the caller was the last owner.
	isGivenBack := func(b *buffer.Buffer) (given bool) {
		defer func() { given = recover() != nil }()
		b.Keep() // it is of no use after this
		b.Release()
		b.Release()
		return false
	}
	f := func(name string, end func(p *put), want bool) {
		p, b, err := add(1, 3000)
		if err != nil {
			t.Fatal(err)
		}
		end(p)
		if got := isGivenBack(b); got != want {
			t.Errorf("%s: given back: got %t, want %t", name, got, want)
		}
		if !want {
			p.buffer = nil
			q.finish(p, nil)
		}
	}
	f("waits", func(*put) {}, false)
	f("written", func(p *put) { q.finish(p, nil) }, true)
	f("written, and ended again", func(p *put) { q.finish(p, nil); p.gone = true; q.bytes += p.bytes; q.finish(p, nil) }, true)
	f("removed", func(*put) { q.drop(1) }, false) // the writer may be at it
	f("removed and passed over", func(p *put) { q.drop(1); q.finish(p, nil) }, true)
	if _, _, err := add(2, 9000); err != nil {
		t.Fatal(err)
	}
	if _, b, err := add(3, 9000); err == nil || !isGivenBack(b) {
		t.Errorf("refused: error %v, and it is not given back", err)
	}
}

// A Buffer of 2,100 bytes takes 4,096. If the bound counted the body alone, the queue could take twice its memory.
func TestTheBoundCountsAllOfABuffer(t *testing.T) {
	q := newQueue(10_000)
	f := func(h uint64, want error) {
		b := buffer.Get(2100)
		p := &put{buffer: b}
		p.Hash, p.Body, p.shape.Bytes = h, b.Bytes(), 2100
		if got := q.add(p); !errors.Is(got, want) {
			t.Errorf("record %d: got %v, want %v", h, got, want)
		}
	}
	f(1, nil)
	f(2, nil)
	f(3, ErrBusy)
	if _, bytes := q.waiting(); bytes != 2*4096 {
		t.Errorf("got %d bytes waiting, want %d", bytes, 2*4096)
	}
}
