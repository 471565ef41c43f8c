package http1

import (
	"io"
	"strings"
	"testing"
)

// TestUploadsBySockets: requests behind uploads are answered by the loop, and what is behind a malformed one is not read, whatever comes in
// one read.
func TestUploadsBySockets(t *testing.T) {
	address := serveTCP(t, byLoopAlone)
	var all strings.Builder
	for _, u := range uploads {
		all.WriteString(u.request + byLoop.get("/hit"))
	}
	c, r := dialTCP(t, address)
	if _, err := io.WriteString(c, all.String()); err != nil {
		t.Fatal(err)
	}
	for _, u := range uploads {
		for _, want := range []string{"200 " + u.content, "200 /hit"} {
			if got, err := heard(r); got != want || err != nil {
				t.Fatalf("%.80q: got %.80q and error %v, want %.80q", u.request, got, err, want)
			}
		}
	}
	for _, body := range malformedUploads {
		c, r := dialTCP(t, address)
		if _, err := io.WriteString(c, chunkedHead+body+byLoop.get("/smuggled")); err != nil {
			t.Fatal(err)
		}
		if got, err := heard(r); !strings.HasPrefix(got, "400 ") || err != nil {
			t.Errorf("%.80q: got %.80q and error %v, want 400", body, got, err)
		}
		if _, err := r.ReadByte(); err != io.EOF {
			t.Errorf("%.80q: then got error %v, want the end", body, err)
		}
	}
}
