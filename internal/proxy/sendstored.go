package proxy

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/conn/pace"
	"edgeproxy/internal/conn/pinned"
	"edgeproxy/internal/conn/sendfile"
	"edgeproxy/internal/http/message"
	"edgeproxy/internal/http/reason"
)

// stored answers from an entry.
type stored struct{ *cache.Object }

func (s stored) heading(x *exchange) heading {
	e := s.Object
	return heading{clientHead: storedClientHead(e), status: e.Status(), size: e.Content().Size(), at: x.start.Add(x.waited), evaluation: onEntry}
}

func (s stored) send(x *exchange, c selection) {
	e := s.Object
	switch {
	case x.byFile:
		x.p.sendFromDisk(x, e, c)
	case x.opened != nil:
		x.p.sendRead(x, c.length, e)
	case c.parts != nil:
		x.p.sendStored(x, c.parts.Content, c.length, e)
	default:
		x.p.sendOne(x, e, c.first, c.length)
	}
}

func (stored) leave(*exchange) {}

func (stored) abandon() {}

// entry returns what x is answered from alone; nil where that is something else.
func (x *content) entry() *cache.Object {
	if s, ok := x.from.(stored); ok {
		return s.Object
	}
	return nil
}

// fromStore reports whether x is answered from the store, without the origin.
func (x *content) fromStore() bool {
	switch from := x.from.(type) {
	case stored, *assembly:
		return true
	case *slicing:
		return from.confirmed
	}
	return false
}

// What is stored in memory is sent from where it is, in one write. While that lasts the bodies are
// held: they may leave the cache meanwhile. Where each write has a deadline of its own, a
// large answer goes in pieces, for a deadline sees no progress within a write.
const (
	atOnce      = 256 << 10 // the most that goes in one write that has a deadline
	storedPiece = 32 << 10
)

// sendOne has length bytes of the body of e sent, from first on.
func (p *Proxy) sendOne(x *exchange, e *cache.Object, first, length int64) {
	if length == 0 {
		return
	}
	content := e.Content()
	b, _ := content.Bytes()
	b = b[first : first+length]
	if p.WriteIdleTimeout > 0 && len(b) > atOnce {
		p.sendInPieces(x, net.Buffers{b}, e)
		return
	}
	x.bytes = int64(len(b))
	if content.Size() > pinned.Least {
		p.sendingOf(x).Hold(e.Pin())
		if f := p.sendfileCopy(x, e, length); f != nil {
			x.answer.SayFile(b, f, first)
			return
		}
	}
	if e == x.loaded && !x.refresh { // nobody else has it
		x.answer.Held = e.Lend(x.answer.Held)
	}
	x.answer.Say(b)
}

// sendfileCopy returns a file that has all of the body of e, of which x gets length bytes, where
// x's front can send from it; nil without.
func (p *Proxy) sendfileCopy(x *exchange, e *cache.Object, length int64) *sendfile.Copy {
	pin := e.Pin()
	if !x.req.SendsFiles || pin == nil || length < sendfile.Least {
		return nil
	}
	b, _ := e.Content().Bytes()
	return p.Copies.Take(&pin.Copy, b)
}

// sendStored has content sent, which is length bytes of the bodies of entries and what goes
// between.
func (p *Proxy) sendStored(x *exchange, content net.Buffers, length int64, entries ...*cache.Object) {
	if p.WriteIdleTimeout > 0 && length > atOnce {
		p.sendInPieces(x, content, entries...)
		return
	}
	x.bytes = length
	sending := p.sendingOf(x)
	for _, e := range entries {
		sending.Hold(e.Pin())
	}
	x.answer.SayAll(content)
}

// sendRead has length bytes sent of the bodies of entries, not all of which lie in memory, and of
// what goes between: what x has opened.
func (p *Proxy) sendRead(x *exchange, length int64, entries ...*cache.Object) {
	b := p.newBody(x)
	b.src, b.left = x.opened, length
	for _, e := range entries {
		b.sending.Hold(e.Pin())
	}
	x.answer.Content = &streamed{b}
}

// sendingOf returns what is to be told of the bodies that x's answer is sent from.
func (p *Proxy) sendingOf(x *exchange) *pace.Sending {
	sending := p.Sends.Begin(x.req.Conn, x.start)
	if sending != nil {
		x.answer.Held = sending
	}
	return sending
}

// pieces is content that is sent from the store piece by piece.
type pieces struct {
	*body
	content net.Buffers
}

func (p *Proxy) sendInPieces(x *exchange, content net.Buffers, entries ...*cache.Object) {
	b := p.newBody(x)
	for _, c := range content {
		b.left += int64(len(c))
	}
	for _, e := range entries {
		b.sending.Hold(e.Pin())
	}
	x.answer.Content = &pieces{b, content}
}

// Next implements message.Content, and gives each piece its time.
func (b *pieces) Next() (piece []byte, err error) {
	defer b.rescue(&err)
	if err := b.written(); err != nil {
		return nil, err
	}
	for len(b.content) > 0 {
		rest := b.content[0]
		if len(rest) == 0 {
			b.content = b.content[1:]
			continue
		}
		piece, b.content[0] = rest[:min(storedPiece, len(rest))], rest[min(storedPiece, len(rest)):]
		b.sent(len(piece))
		return piece, nil
	}
	b.whole = true
	return nil, io.EOF
}

// What follows has the system send a long body from where it lies on the disk, without a copy in this process. Each part is checked
// just before.

const (
	leastByFile = 64 << 10  // from there on it is worth it
	diskPart    = 256 << 10 // so much is checked and sent at once
)

// sendsFromDisk reports whether what c leaves of e can be sent to x like that.
func (x *incoming) sendsFromDisk(e *cache.Object, c selection) bool {
	return x.req.SendsFiles && c.parts == nil && c.length >= leastByFile && e.Content().OnDisk()
}

// diskContent is content that is sent from the disk. Where its front does not send files after all, it is read.
type diskContent struct {
	*streamed
	content cache.Content
	at      int64 // in the content, of the next part
	file    diskFile
	object  *cache.Object
}

var _ message.FileContent = (*diskContent)(nil)

// diskFile is a file of the disk, which closes it itself.
type diskFile struct{ *os.File }

func (f *diskFile) Descriptor() int { return int(f.Fd()) } //nolint:gosec // a descriptor

func (*diskFile) Release() {}

// sendFromDisk has what c leaves of e sent, whose first part was checked.
func (p *Proxy) sendFromDisk(x *exchange, e *cache.Object, c selection) {
	b := p.newBody(x)
	content := e.Content()
	b.src, b.left = content.Section(c.first, c.length), c.length
	x.answer.Content = &diskContent{streamed: &streamed{b}, content: content, at: c.first, object: e}
}

// NextFile implements message.FileContent.
func (d *diskContent) NextFile() (f message.File, offset, length int64, err error) {
	b := d.body
	defer b.rescue(&err)
	if err := b.written(); err != nil {
		return nil, 0, 0, err
	}
	if b.left == 0 {
		b.whole = true
		return nil, 0, 0, io.EOF
	}
	length = min(b.left, diskPart)
	if d.file.File, offset, err = d.content.Part(d.at, length); err != nil {
		b.p.removeUnreadable(err, d.object)
		return nil, 0, 0, b.cutShort(err)
	}
	d.at += length
	b.sent(int(length))
	return &d.file, offset, length, nil
}

// What follows sends content that lies in no memory. It may turn out that it cannot be read. Then it
// leaves the cache, and until the head is sent its client does not see that: the request goes on
// as a miss.

// mostLost bounds how often what is stored for one request turns out to be lost before it is
// fetched for that request alone.
const mostLost = 2

// readsContent reports whether content of x's answer has to be read, which may wait.
func (x *content) readsContent() bool {
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
		x.loaded = nil // followers of the refresh may still read it
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
