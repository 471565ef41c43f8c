package field

import (
	"slices"
	"strings"
	"testing"
)

func TestProtocols(t *testing.T) {
	f := func(value string, want ...string) {
		t.Helper()
		got, ok := Protocols(value)
		if ok != (len(want) > 0) || !slices.Equal(got, want) {
			t.Errorf("%q: got %q, %t, want %q", value, got, ok, want)
		}
	}
	f("websocket", "websocket")
	f("WebSocket", "WebSocket")
	f("IRC/6.9, RTA/x11", "IRC/6.9", "RTA/x11")
	f("a,b\t,  c", "a", "b", "c")
	for _, none := range []string{"", " ", ",", "a,", ",a", "a,,b", "/1", "a/", "a/1/2", "a b", "a/b c", "a;q=1", "a\x00", "ä"} {
		f(none)
	}
}

// FuzzProtocols: accepted protocols are made of tokens, and together are the whole value.
func FuzzProtocols(f *testing.F) {
	for _, seed := range []string{"websocket", "IRC/6.9, RTA/x11", "a,", "a/1/2", "h2c ,\twebsocket"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		list, ok := Protocols(value)
		if !ok {
			if list != nil {
				t.Errorf("%q: got %q without being sure", value, list)
			}
			return
		}
		for _, p := range list {
			if name, version, _ := strings.Cut(p, "/"); !ValidName(name) || strings.Contains(p, "/") && !ValidName(version) {
				t.Errorf("%q: got the protocol %q", value, p)
			}
		}
		plain := strings.NewReplacer(" ", "", "\t", "").Replace(value)
		if got := strings.Join(list, ","); got != plain {
			t.Errorf("%q: got %q, want %q", value, got, plain)
		}
	})
}
