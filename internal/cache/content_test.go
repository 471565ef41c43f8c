package cache

import (
	"bytes"
	"io"
	"testing"
)

func TestContentIsReadByOffsetWhereverItLies(t *testing.T) {
	text := []byte("0123456789")
	for name, c := range map[string]Content{"memory": InMemory(text), "kept": Kept(bytes.NewReader(text))} {
		if b, ok := c.Bytes(); ok != (name == "memory") || ok && &b[0] != &text[0] {
			t.Errorf("%s: Bytes gives %q, %v", name, b, ok)
		}
		if got, err := io.ReadAll(c.Section(3, 4)); err != nil || string(got) != "3456" || c.Size() != 10 {
			t.Errorf("%s: bytes 3 to 6 of %d: got %q %v", name, c.Size(), got, err)
		}
		if n, err := c.ReadAt(make([]byte, 4), 8); n != 2 || err != io.EOF { //nolint:errorlint // io.ReaderAt says so
			t.Errorf("%s: 4 bytes from 8 on: got %d %v, want 2 and the end", name, n, err)
		}
		if n, err := c.ReadAt(make([]byte, 4), 11); n != 0 || err != io.EOF { //nolint:errorlint // the same
			t.Errorf("%s: bytes behind the end: got %d %v, want the end", name, n, err)
		}
	}
	if c := (Content{}); c.Size() != 0 {
		t.Errorf("the zero Content: got %d bytes", c.Size())
	}
}
