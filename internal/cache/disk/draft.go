package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"edgeproxy/internal/cache/disk/layout"
)

// Draft is a record whose body is written as it arrives, for a body that is too long for memory. Nobody finds the record before Commit. A
// Draft ends with Commit or Abort. One goroutine at a time uses it.
//
// At most one buffer of it, 1 MiB, waits in memory. A draft that fits in the buffer is put like any other record. A longer one gets a range of a
// segment for itself, which counts as part of MaxBytes from then on.
type Draft struct {
	s      *Store
	v      *volume // the volume in use when the draft began
	hash   uint64
	length int64 // length of the body; -1: unknown
	bodyAt int64
	size   int64  // bytes received
	buffer []byte // bytes that wait to be written
	sums   []byte // checksums of the chunks that do not wait
	put    *reserved
	pledge int64 // bytes of the range, counted in drafts.pledged
	err    error // why it was given up
	ended  bool
}

const (
	// maxDrafts is how many drafts there can be at once.
	maxDrafts = 16
	// draftHead bounds key and block together if the caller of Create does not.
	draftHead = 16 << 10
	// All drafts together may take 1/draftShare of MaxBytes; one draft alone may take more.
	draftShare = 4
	// A draft may use up WriteRate for the time borrowed in advance.
	borrowed = time.Minute
)

// Create begins a record. H is the hash of its key, length that of its body in bytes, -1 if it is not known. Head bounds key and block
// together (0: 16 KiB). It never waits. Errors: ErrBusy if too many drafts are open, and ErrRate, ErrTooLarge, ErrReadOnly, ErrOff.
func (s *Store) Create(h uint64, length, head int64) (*Draft, error) {
	v, err := s.volume.Load(), ErrOff
	var d *Draft
	if v != nil {
		d, err = v.create(s, h, length, or(head, draftHead))
	}
	if err != nil {
		s.counts.refused(err)
		return nil, err
	}
	return d, nil
}

func (v *volume) create(s *Store, h uint64, length, head int64) (*Draft, error) {
	most := min(v.o.MaxObjectBytes, layout.MaxBody)
	switch {
	case length > most || head > layout.MaxKey+layout.MaxBlock:
		return nil, ErrTooLarge
	case v.readOnly:
		return nil, ErrReadOnly
	case v.failed():
		return nil, ErrOff
	case !v.rate.allows(v.o.Now()) || v.rate.beyond(length, borrowed):
		return nil, ErrRate
	case v.drafts.open.Add(1) > maxDrafts:
		v.drafts.open.Add(-1)
		return nil, ErrBusy
	}
	d := &Draft{s: s, v: v, hash: h, length: length, bodyAt: layout.HeadRoom(head, most)}
	if length >= 0 {
		d.bodyAt = layout.HeadRoom(head, length)
	}
	return d, nil
}

// bufferBytes returns the size of one write: whole chunks.
func (d *Draft) bufferBytes() int64 { return min(bufferBytes, d.v.head.SegmentBytes/4) }

// Write takes the next part of the body. It keeps no reference to p, and never waits. After an error the draft is lost, and the caller
// calls Abort: ErrBusy if the disk is slower than the body arrives, ErrRate, ErrTooLarge, ErrOff, or an error of the writer's.
func (d *Draft) Write(p []byte) (int, error) {
	if d.err == nil && (d.length >= 0 && d.size+int64(len(p)) > d.length || d.size+int64(len(p)) > d.v.o.MaxObjectBytes) {
		d.lose(ErrTooLarge)
	}
	for rest := p; len(rest) > 0 && d.err == nil; {
		if int64(len(d.buffer)) == d.bufferBytes() { // only now: the body may have ended with it
			d.lose(d.hand())
			continue
		}
		if len(d.buffer) == cap(d.buffer) {
			d.grow()
		}
		n := min(len(rest), cap(d.buffer)-len(d.buffer))
		d.buffer = append(d.buffer, rest[:n]...)
		d.size += int64(n)
		rest = rest[n:]
	}
	if d.err != nil {
		return 0, d.err
	}
	return len(p), nil
}

// grow makes room in the buffer: for the rest of the body or a whole write, whichever is less. Where the length is not known it begins
// with one chunk and doubles, so that a short body is not the price of a long one.
func (d *Draft) grow() {
	room := d.bufferBytes()
	switch {
	case d.length >= 0:
		room = min(room, layout.Align(d.length-d.size, layout.Page)+int64(len(d.buffer)))
	case d.put == nil:
		room = min(room, max(layout.ChunkBytes, 2*int64(cap(d.buffer))))
	}
	d.buffer = append(make([]byte, 0, room), d.buffer...)
}

// lose notes that the draft can no longer be committed.
func (d *Draft) lose(err error) {
	if err == nil || d.err != nil {
		return
	}
	d.err = err
	d.v.counts.draftsLost.Add(1)
	if errors.Is(err, ErrBusy) || errors.Is(err, ErrRate) || errors.Is(err, ErrTooLarge) {
		d.v.counts.refused(err)
	}
}

// hand passes the buffer to the writer.
func (d *Draft) hand() error {
	if d.put == nil {
		d.put = &reserved{bodyAt: d.bodyAt, alone: d.length < 0}
	}
	if why := d.put.failure.Load(); why != nil {
		return *why
	}
	if err := d.pledgeRoom(); err != nil {
		return err
	}
	r, b, want := d.put, d.buffer, d.pledge
	d.sums = layout.AppendSums(d.sums, b)
	d.buffer = nil
	if pad := layout.Align(int64(len(b)), layout.Page) - int64(len(b)); pad > 0 {
		b = append(b, make([]byte, pad)...)
	}
	return d.v.queue.piece(int64(len(b)), func() error { d.v.writer.writePiece(r, b, want); return nil })
}

// pledgeRoom checks that the bytes received so far may be stored, and reserves them.
func (d *Draft) pledgeRoom() error {
	body := d.length
	if body < 0 {
		step := d.v.head.SegmentBytes / 4
		body = (d.size + step - 1) / step * step
		if d.v.rate.beyond(body, borrowed) {
			return ErrRate
		}
	}
	more := d.bodyAt + layout.Align(body, layout.Page) - d.pledge
	if more <= 0 {
		return nil
	}
	if all := d.v.drafts.pledged.Add(more); all > more && all > d.v.o.MaxBytes/draftShare {
		d.v.drafts.pledged.Add(-more)
		return ErrBusy
	}
	d.pledge += more
	return nil
}

// Commit makes a record of key and block and of the body that was written. It waits until the record is on the disk and can be found, for
// ReadDeadline at most: after that the draft is given up, and the error is ErrSlow. Whatever it returns, the record that was under the hash
// before has left. Key and block become the Store's. Errors: that of Write, io.ErrUnexpectedEOF if the body is incomplete, and as from Put.
func (d *Draft) Commit(key, block []byte) error {
	defer d.Abort()
	if d.ended {
		return ErrOff
	}
	err := d.err
	if err == nil && d.length >= 0 && d.size != d.length {
		err = io.ErrUnexpectedEOF
	}
	if err == nil {
		err = d.commit(key, block)
	}
	if err != nil {
		d.v.remove(d.hash)
	}
	d.s.changed(d.v, d.hash)
	if err != nil {
		d.lose(err)
		return err
	}
	d.v.counts.puts.Add(1)
	return nil
}

func (d *Draft) commit(key, block []byte) error {
	if d.put == nil {
		body := d.buffer
		if d.length < 0 { // it may be half of the buffer's memory
			body = bytes.Clone(body)
		}
		return d.v.put(&put{Record: layout.Record{Hash: d.hash, Key: key, Block: block, Body: body}})
	}
	shape, err := layout.ShapeOf(len(key), len(block), d.size)
	if err == nil {
		shape, err = shape.BodyFrom(d.bodyAt)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrTooLarge, err)
	}
	if len(d.buffer) > 0 {
		if err := d.hand(); err != nil {
			return err
		}
	}
	v, r := d.v, d.put
	p := &put{Record: layout.Record{Hash: d.hash, Key: key, Block: block, Sums: d.sums}, shape: shape, draft: true}
	v.forgot.add(d.hash)
	done := v.queue.publish(p, func() error { return v.writer.publish(r, p) })
	d.put = nil // the writer ends it
	timer := time.NewTimer(v.o.ReadDeadline)
	defer timer.Stop()
	err = v.wait(done, timer.C)
	if err != nil {
		v.queue.dropPut(p)
	}
	return err
}

// Abort discards the draft, and leaves the record that was under its hash before. It never waits. After Commit it does nothing.
func (d *Draft) Abort() {
	if d.ended {
		return
	}
	d.ended = true
	d.buffer = nil
	if r := d.put; r != nil {
		d.v.queue.ask(func() error { d.v.writer.unreserve(r); return nil })
	}
	d.v.drafts.pledged.Add(-d.pledge)
	d.v.drafts.open.Add(-1)
}

var errAborted = errors.New("disk: the draft was aborted")
