package proxy

import (
	"io"
	"strings"
	"testing"
	"time"
)

// TestAnAbandonedUploadEndsTheConnection: an origin that answered and closed between
// two reads interrupted none of them, and the client was told that it may go on, with the
// rest of its upload to come.
func TestAnAbandonedUploadEndsTheConnection(t *testing.T) {
	u := &upload{deadlines: deadlines{}, src: &testBody{reader: strings.NewReader("abc"), length: 3}, left: 10, idle: time.Minute}
	f := func(when string, want bool) {
		t.Helper()
		if got := u.leftOff(); got != want {
			t.Errorf("%s: left off %v, want %v", when, got, want)
		}
	}
	f("not begun", false)
	if _, err := io.ReadFull(u, make([]byte, 2)); err != nil {
		t.Fatal(err)
	}
	f("in the midst", true)
	if _, err := io.ReadAll(u); err != nil {
		t.Fatal(err)
	}
	f("at the end", false)
	u.interrupt()
	f("interrupted", true)
}
