package proxy

import (
	"io"
	"os"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/http/message"
)

// This file has the system send a long body from where it lies on the disk, without a copy in this process. Each part is checked
// just before.

const (
	leastByFile = 64 << 10  // from there on it is worth it
	diskPart    = 256 << 10 // that is checked and sent at once
)

// sendsFromDisk reports whether what c leaves of e can be sent to x like that.
func (x *exchange) sendsFromDisk(e *cache.Object, c selection) bool {
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
