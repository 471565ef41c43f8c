package wire

import (
	"net/url"
	"strings"
	"testing"
)

// Routes, cache keys and rules for queries share one decoder. It decodes as net/url does,
// but leaves invalid encodings as they are.
func FuzzNextQueryByte(f *testing.F) {
	for _, seed := range []string{"", "a", "a+b", "%41%6a", "%", "%4", "%4g", "%%41", "+%2b+", "%00%ff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, part string) {
		var got strings.Builder
		for rest := []byte(part); len(rest) > 0; {
			c, n := NextQueryByte(rest)
			if n != 1 && n != 3 {
				t.Fatalf("%q: took %d bytes", rest, n)
			}
			got.WriteByte(c)
			rest = rest[n:]
		}
		if all := AppendQueryDecoded(nil, []byte(part)); string(all) != got.String() {
			t.Errorf("%q: got %q at once, %q byte by byte", part, all, got.String())
		}
		if want, err := url.QueryUnescape(part); err == nil && got.String() != want {
			t.Errorf("%q: got %q, want %q", part, got.String(), want)
		}
	})
}
