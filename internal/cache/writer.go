package cache

import (
	"edgeproxy/internal/buffer"
	"edgeproxy/internal/cache/disk"
	"edgeproxy/internal/pinned"
)

// Writer stores one response whose content arrives piece by piece. If the Store has a Medium, the pieces go there as
// they arrive. Else the memory that the caller reads them into becomes the content, and a Writer costs nothing. It ends
// with Commit or Abort. One goroutine uses it.
type Writer struct {
	store *Store
	draft Draft // nil: the Medium is not used
	size  int64 // bytes written to draft or onDisk

	onDisk *disk.Draft // nil: the Disk is not used
	lost   error       // why onDisk was given up
}

// Write returns a Writer for one response.
func (s *Store) Write() Writer { return Writer{store: s} }

// Wants reports whether the Writer uses the pieces as they arrive.
func (w *Writer) Wants() bool { return w.store.medium != nil || w.store.disk != nil }

// AtOnce reports whether length bytes of content, which have arrived, may go to CommitBuffer. Otherwise use Begin, Append and
// Commit.
func (w *Writer) AtOnce(length int64) bool {
	switch s := w.store; {
	case s.medium != nil:
		return false
	case s.disk != nil:
		return length <= s.limits.maxObjectBytes // a longer one is written as it arrives
	default:
		return length <= pinned.Least // and copied
	}
}

// Begin says, before the first piece, that the content of e is to be stored if it arrives whole: length bytes, -1 if
// unknown. Without Begin nothing is written until Commit. Admitted says whether admission has let it in by now.
func (w *Writer) Begin(e *Entry, length int64, admitted bool) {
	if w.store.disk != nil && admitted {
		w.beginOnDisk(e, length)
	}
	w.begin(length)
}

func (w *Writer) begin(length int64) {
	if m := w.store.medium; m != nil && w.draft == nil && length <= m.Largest() {
		w.size = 0
		w.draft, _ = m.Create(length) // if it fails, the content goes to memory
	}
}

// Append takes the next piece. It keeps no reference to p.
func (w *Writer) Append(p []byte) {
	if w.onDisk != nil {
		w.appendOnDisk(p)
	}
	if w.draft == nil {
		return
	}
	w.size += int64(len(p))
	if _, err := w.draft.Write(p); err != nil || w.size > w.store.medium.Largest() {
		w.drop()
	}
}

// Holds reports whether the Writer itself has written size bytes: then Commit needs no body.
func (w *Writer) Holds(size int64) bool {
	return (w.draft != nil || w.onDisk != nil) && w.size == size
}

// Commit stores e with the content that was written, or with body, which is the same content in memory; nil if the
// caller does not have it whole. Admitted says whether admission let it in or held it back. The Store chooses its
// place: see Put and PutStage for the outcomes and for unless. InMemory says that body itself is stored now, and
// belongs to the Store; a short one is copied.
func (w *Writer) Commit(e *Entry, body []byte, admitted bool, unless func() bool) (o Outcome, inMemory bool) {
	if w.onDisk != nil && body == nil && admitted {
		return w.commitDraft(e, unless), false
	}
	w.abortOnDisk()
	return w.commit(e, body, admitted, unless)
}

func (w *Writer) commit(e *Entry, body []byte, admitted bool, unless func() bool) (o Outcome, inMemory bool) {
	stored, head := *e, e
	if !admitted {
		head = nil
	}
	stored.Content = w.content(body, head)
	k, onDisk := stored.Content.kept, false
	defer func() {
		if k != nil && o != Stored && o != Joined { // also where unless has panicked
			k.Remove()
		}
	}()
	if admitted {
		o, onDisk = w.store.put(&stored, nil, unless)
	} else {
		o = w.store.PutStage(&stored, unless)
	}
	return o, onDisk || (o == Stored || o == InDemand) && k == nil && !stored.fitsBlock()
}

// CommitBuffer is Commit for a response that was admitted, in place of all other calls: AtOnce has reported true for the bytes of b,
// which are its content. The Store becomes an owner of b, or keeps it, if it needs the bytes.
func (w *Writer) CommitBuffer(e *Entry, b *buffer.Buffer, unless func() bool) Outcome {
	stored := *e
	stored.Content = InMemory(b.Bytes())
	o, onDisk := w.store.put(&stored, b, unless)
	if !onDisk && (o == Stored || o == InDemand) && !stored.fitsBlock() { // memory has it
		b.Keep()
	}
	return o
}

// Abort leaves nothing behind. After Commit it does nothing.
func (w *Writer) Abort() {
	w.drop()
	w.abortOnDisk()
}

func (w *Writer) abortOnDisk() {
	if w.onDisk != nil {
		w.onDisk.Abort()
		w.onDisk = nil
	}
}

func (w *Writer) drop() {
	if w.draft != nil {
		w.draft.Abort()
		w.draft = nil
	}
}

// content ends the draft and returns it as the content of e; body if there is no draft.
func (w *Writer) content(body []byte, e *Entry) Content {
	if w.draft != nil && body != nil && w.size != int64(len(body)) { // admitted while it arrived
		w.drop()
	}
	if w.draft == nil && body != nil {
		w.begin(int64(len(body)))
		w.Append(body)
	}
	if w.draft == nil {
		return InMemory(body)
	}
	draft := w.draft
	w.draft = nil
	f, err := draft.Finish(e)
	if err != nil {
		return InMemory(body)
	}
	return w.store.inFile(f)
}

// Restore stores e, which an earlier process stored, with its content in f, as Put does. If it is not stored, f is
// removed. The caller has checked that all purges since then are known (purge.Identity); each look-up checks them.
func (s *Store) Restore(e *Entry, f File) Outcome {
	restored := *e
	restored.Content = s.inFile(f)
	o := s.Put(&restored, nil)
	if o != Stored && o != Joined {
		f.Remove()
	}
	return o
}

func (s *Store) inFile(f File) Content {
	return Content{kept: &fileContent{File: f, apart: f.Size() > s.limits.maxObjectBytes}}
}
