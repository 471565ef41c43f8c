package proxy

import (
	"errors"
	"io"
	"testing"
)

// silent is a source that would wait for the origin.
type silent struct{ t *testing.T }

func (s silent) Read([]byte) (int, error) {
	s.t.Error("read beyond the range")
	return 0, io.ErrUnexpectedEOF
}

func TestARangeDoesNotWaitForWhatFollowsIt(t *testing.T) {
	b := &streamed{&body{src: silent{t}, part: true}}
	if n, err := b.Read(make([]byte, 10)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("got %d, %v, want the end", n, err)
	}
}
