package byteranges

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/http/rfc9111"
)

func keptEntryOf(body string) *cache.Object {
	e := entryOf(body, "a/b").Entry()
	e.Content = cache.Kept(bytes.NewReader([]byte(body)))
	return cache.NewObject(e)
}

// An answer in parts is the same wherever the content lies.
func TestMultipartOfContentInAFileIsTheSame(t *testing.T) {
	long := strings.Repeat("x", pieceBytes-10) + "--part-of-a-stored-body-0" + strings.Repeat("y", pieceBytes)
	for _, body := range []string{"0123456789", "--part-of-a-stored-body-0 and more", long} {
		size := int64(len(body))
		ranges := []rfc9111.Range{{First: size / 2, Last: size - 1}, {First: 0, Last: size/2 - 1}}
		want, got := New(entryOf(body, "a/b"), ranges), New(keptEntryOf(body), ranges)
		sent, err := io.ReadAll(got.Reader(keptEntryOf(body).Content(), ranges))
		if wanted := bytes.Join(want.Content, nil); err != nil || !bytes.Equal(sent, wanted) || got.Length != int64(len(sent)) {
			t.Errorf("body of %d bytes: got %d bytes %v, want %d, the length that was said %d", size, len(sent), err, len(wanted), got.Length)
		}
	}
}

// A boundary that lies across two pieces is found, too, and content that cannot be read has
// every one.
func TestBoundariesInContentInAFile(t *testing.T) {
	for at := range 2 * boundaryBytes {
		text := strings.Repeat("x", pieceBytes-at) + "boundary" + strings.Repeat("x", 100)
		if c := keptEntryOf(text).Content(); !contains(c.Section(0, c.Size()), []byte("boundary")) {
			t.Errorf("%d bytes before the end of a piece: got nothing, want the boundary", at)
		}
	}
	short := keptEntryOf("short").Content()
	if !contains(short.Section(0, 10), []byte("boundary")) {
		t.Error("content that is cut short: got no boundary, want every one")
	}
}
