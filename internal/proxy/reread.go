package proxy

import (
	"bytes"
	"errors"
	"io"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/http/reason"
)

// This file sends content that lies in no memory. It may turn out that it cannot be read. Then it
// leaves the cache, and until the head is sent its client does not see that: the request goes on
// as a miss.

// mostLost bounds how often what is stored for one request turns out to be lost before it is
// fetched for that request alone.
const mostLost = 2

// readsContent reports whether content of x's answer has to be read, which may wait.
func (x *exchange) readsContent() bool {
	switch from := x.from.(type) {
	case stored:
		return from.Content().InFile()
	case *assembly:
		for _, e := range from.entries {
			if e.Content().InFile() {
				return true
			}
		}
	}
	return false
}

// openContent reads the beginning of what c leaves of the content of x's answer, and reports whether
// that is possible. Where it is not, what x is answered from is forgotten.
func (x *exchange) openContent(c selection) bool {
	if c.length == 0 {
		return true
	}
	src := &fileReader{p: x.p, left: c.length}
	switch from := x.from.(type) {
	case stored:
		if x.sendsFromDisk(from.Object, c) {
			_, _, err := from.Content().Part(c.first, min(c.length, diskPart))
			if x.byFile = err == nil; err != nil {
				x.p.removeUnreadable(err, from.Object)
			}
			return x.byFile
		}
		src.entries = []*cache.Object{from.Object}
		if c.parts != nil {
			src.from = c.parts.Reader(from.Content(), c.ranges)
		} else {
			src.from = from.Content().Section(c.first, c.length)
		}
	case *assembly:
		if c.length > x.p.MaxObjectBytes && len(from.entries) > 1 {
			return true // sendInTurn reads it, slice by slice
		}
		src.entries, src.from = from.entries, from.reader(c.first-from.part.First)
	}
	first := make([]byte, min(c.length, streamBuffer))
	if _, err := io.ReadFull(src, first); err != nil {
		return false
	}
	x.opened = io.MultiReader(bytes.NewReader(first), src)
	return true
}

// restartAsMiss has x, whose stored answer cannot be read, go on as a miss. Its sighting stays
// counted.
func (p *Proxy) restartAsMiss(x *exchange) {
	x.undoAnswer()
	x.room.empty()
	if x.refresh {
		x.loaded = nil // those who follow the refresh may still read it
	}
	x.result, x.reason, x.stored, x.refresh, x.stale, x.heldBack, x.waited = resultHit, reason.None, false, false, nil, false, 0
	if x.fwd = fwdURIMiss; x.vary != nil {
		x.fwd = fwdVaryMiss
	}
	if x.request.OnlyIfCached {
		p.refuse(x, statusGatewayTimeout, reason.OnlyIfCached)
		return
	}
	if !x.counted && p.acquireSlot(x, miss) == refused {
		return
	}
	if x.unreadable++; x.unreadable >= mostLost {
		p.fetchAlone(x, x.verdict.Admit && x.mayStore())
		return
	}
	p.collapse(x)
}

// removeUnreadable forgets entries whose content cannot be read.
func (p *Proxy) removeUnreadable(err error, entries ...*cache.Object) {
	for _, e := range entries {
		if errors.Is(err, cache.ErrSlow) {
			continue // it is there all the same
		}
		if e.Content().InFile() && p.Store.Discard(e) {
			p.Log.Warn("a stored response cannot be read from the disk and was removed", "key", string(e.Name()), "error", err)
		}
	}
}

// fileReader reads left bytes of the contents of entries, and what goes between them.
type fileReader struct {
	p       *Proxy
	from    io.Reader
	left    int64
	entries []*cache.Object
}

// Read gives the next bytes. An end before the last of them is an error.
func (f *fileReader) Read(b []byte) (int, error) {
	n, err := f.from.Read(b)
	f.left -= int64(n)
	if err != nil && f.left > 0 {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		f.p.removeUnreadable(err, f.entries...)
	}
	return n, err
}
