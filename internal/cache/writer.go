package cache

import (
	"bytes"

	"edgeproxy/internal/cache/buffer"
	"edgeproxy/internal/cache/disk"
	"edgeproxy/internal/conn/pinned"
)

// Writer stores one response whose content arrives piece by piece. Content that only the Disk takes goes there as it
// arrives. For all other content the memory that the caller reads it into becomes the content, and a Writer costs
// nothing. It ends with Commit or Abort. One goroutine uses it.
type Writer struct {
	store *Store

	onDisk *disk.Draft // nil: the Disk is not used
	size   int64       // bytes written to onDisk
	lost   error       // why onDisk was given up
}

// Write returns a Writer for one response.
func (s *Store) Write() Writer { return Writer{store: s} }

// Wants reports whether the Writer may use the pieces as they arrive.
func (w *Writer) Wants() bool { return w.store.disk != nil }

// AtOnce reports whether length bytes of content, which have arrived, may go to CommitBuffer. Otherwise use Begin, Append and
// Commit. For admitted see Commit.
func (w *Writer) AtOnce(length int64, admitted bool) bool {
	s := w.store
	switch {
	case !admitted:
		return true // it is copied, and PutStage says whether it fits
	case s.disk != nil:
		return length <= s.limits.maxObjectBytes // a longer one is written as it arrives
	}
	return length <= pinned.Least // and copied
}

// Begin says, before the first piece, that admission has let e in and that its content is to be stored if it arrives
// whole: length bytes, -1 if unknown. Without Begin nothing is written until Commit.
func (w *Writer) Begin(e *Entry, length int64) {
	if w.Wants() {
		w.beginOnDisk(e, length)
	}
}

// Append takes the next piece. It keeps no reference to p.
func (w *Writer) Append(p []byte) {
	if w.onDisk != nil {
		w.appendOnDisk(p)
	}
}

// Holds reports whether the Writer itself has written size bytes: then Commit needs no body.
func (w *Writer) Holds(size int64) bool { return w.onDisk != nil && w.size == size }

// Commit stores e with the content that was written, or with body, which is the same content in memory; nil if the
// caller does not have it whole. Admitted says whether admission let it in or held it back. The Store chooses its
// place: see Put and PutStage for the outcomes and for unless. InMemory says that body itself is stored now, and
// belongs to the Store; a short one is copied.
func (w *Writer) Commit(e *Entry, body []byte, admitted bool, unless func() bool) (o Outcome, inMemory bool) {
	if w.onDisk != nil && body == nil && admitted {
		return w.commitDraft(e, unless), false
	}
	w.Abort()
	stored, onDisk := *e, false
	stored.Content = InMemory(body)
	if admitted {
		o, onDisk = w.store.put(&stored, nil, unless)
	} else {
		o = w.store.PutStage(&stored, unless)
	}
	return o, onDisk || (o == Stored || o == InDemand) && !stored.fitsBlock()
}

// CommitBuffer is Commit in place of all other calls: AtOnce has reported true for the bytes of b, which are its content. The Store
// becomes an owner of b, or keeps it, if it needs the bytes.
func (w *Writer) CommitBuffer(e *Entry, b *buffer.Buffer, admitted bool, unless func() bool) Outcome {
	stored := *e
	stored.Content = InMemory(b.Bytes())
	if !admitted {
		if !stored.fitsBlock() { // else PutStage copies it
			stored.Content = InMemory(bytes.Clone(b.Bytes()))
		}
		return w.store.PutStage(&stored, unless)
	}
	o, onDisk := w.store.put(&stored, b, unless)
	if !onDisk && (o == Stored || o == InDemand) && !stored.fitsBlock() { // memory has it
		b.Keep()
	}
	return o
}

// Abort leaves nothing behind. After Commit it does nothing.
func (w *Writer) Abort() {
	if w.onDisk != nil {
		w.onDisk.Abort()
		w.onDisk = nil
	}
}
