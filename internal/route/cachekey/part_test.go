package cachekey_test

import (
	"bytes"
	"testing"

	"edgeproxy/internal/http/wire"
	"edgeproxy/internal/route/cachekey"
)

// TestPartsHaveKeysOfTheirOwn builds keys with and without selectors, parts and
// variants: each says in one way only what it is made of.
func TestPartsHaveKeysOfTheirOwn(t *testing.T) {
	r := rules(t, cachekey.Options{Headers: []string{"X-A"}, Cookies: []string{"id"}})
	seen := map[string]string{}
	f := func(what string, key []byte) {
		t.Helper()
		if other, ok := seen[string(key)]; ok {
			t.Errorf("%s has the key of %s", what, other)
		}
		seen[string(key)] = what
	}
	url := func(target string) []byte {
		return wire.AppendKey(nil, "http", []byte("h"), []byte(target))
	}
	part := func(base []byte, size, number int64) []byte {
		return cachekey.AppendPart(bytes.Clone(base), size, number)
	}
	bases := map[string][]byte{
		"the URL": url("/"), "another URL": url("/\x00\x41\x04\x00"), "with selectors": r.AppendSelectors(url("/"), request{}.lines),
		"with a header": r.AppendSelectors(url("/"), request{"X-A": {"\x00\x41\x04\x00"}}.lines),
	}
	for name, base := range bases {
		f(name, base)
		f(name+", the part", part(base, 0, 0))
		for number := range int64(3) {
			f(name+", a slice", part(base, 4, number))
			f(name+", a slice of another size", part(base, 5, number))
			f(name+", a large slice", part(base, 1<<40, number+1<<40))
		}
		variant := append(part(base, 4, 0), 1, 'a', 1, 'b')
		f(name+", a variant of a slice", variant)
	}
}

// The number of header rules stands where the mark of a part does.
func TestNoRulesLookLikeAPart(t *testing.T) {
	var o cachekey.Options
	for i := range 64 {
		o.Headers = append(o.Headers, "X-"+string(rune('A'+i%26))+string(rune('A'+i/26)))
	}
	most := rules(t, o).AppendSelectors(nil, request{}.lines)
	if part := cachekey.AppendPart(nil, 1, 1); part[1] <= most[1] {
		t.Errorf("a part has the mark %d, want more than %d, the most header rules", part[1], most[1])
	}
}

func TestAPartIsReadBack(t *testing.T) {
	f := func(key []byte, size, number int64, ok bool) {
		t.Helper()
		if s, n, is := cachekey.Part(key); s != size || n != number || is != ok {
			t.Errorf("%q: got %d, %d, %v, want %d, %d, %v", key, s, n, is, size, number, ok)
		}
	}
	f(cachekey.AppendPart(nil, 1<<20, 7), 1<<20, 7, true)
	f(append(cachekey.AppendPart(nil, 1<<20, 7), "variant"...), 1<<20, 7, true)
	f(cachekey.AppendPart(nil, 0, 0), 0, -1, true)
	f(nil, 0, 0, false)
	f([]byte("\x0fAccept-Encoding"), 0, 0, false)
	f(rules(t, cachekey.Options{Headers: []string{"X-A"}}).AppendSelectors(nil, request{}.lines), 0, 0, false)
	f(cachekey.AppendPart(nil, 1<<20, 1<<40)[:5], 0, 0, false)
}
