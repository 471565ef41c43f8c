package trace

import (
	"bufio"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
)

const gzipMagic = "\x1f\x8b"

// gzipMembers reads the members of a gzip file one after the other (RFC 1952, 2.2). It
// ends at bytes that begin no further member: padding of tapes has them, and copies that
// were cut and resumed.
type gzipMembers struct {
	packed   *bufio.Reader
	member   *gzip.Reader
	trailing bool // there were such bytes
}

func newGzipMembers(packed *bufio.Reader) (*gzipMembers, error) {
	r, err := gzip.NewReader(packed)
	if err != nil {
		return nil, err
	}
	r.Multistream(false)
	return &gzipMembers{packed: packed, member: r}, nil
}

// Read implements io.Reader.
func (m *gzipMembers) Read(p []byte) (int, error) {
	for {
		n, err := m.member.Read(p)
		if n > 0 && errors.Is(err, io.EOF) {
			err = nil // it comes again
		}
		if n > 0 || !errors.Is(err, io.EOF) {
			return n, err
		}
		if err := m.next(); err != nil {
			return 0, err
		}
	}
}

// next opens the next member; io.EOF says that there is none.
func (m *gzipMembers) next() error {
	magic, err := m.packed.Peek(len(gzipMagic))
	if string(magic) == gzipMagic {
		if err := m.member.Reset(m.packed); err != nil {
			return noEOF(err)
		}
		m.member.Multistream(false)
		return nil
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	m.trailing = m.trailing || len(magic) > 0
	return io.EOF
}
