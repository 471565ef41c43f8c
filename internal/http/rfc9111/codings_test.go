package rfc9111

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

// RFC 9110 section 12.5.3.
func TestCodings(t *testing.T) {
	f := func(want string, values ...string) {
		t.Helper()
		if got := Codings(lines(values...)); got == nil || string(got) != want {
			t.Errorf("%q: got %q, want %q", values, got, want)
		}
	}
	// Browsers and common tools.
	f("zstd, br, gzip", "gzip, deflate, br, zstd")
	f("br, gzip", "gzip, deflate, br")
	f("br, gzip", "br;q=1.0, gzip;q=0.8, *;q=0.1")
	f("gzip", "gzip, deflate")
	f("gzip", "deflate, gzip;q=1.0, *;q=0.5")
	f("gzip", "GZip")
	f("gzip", "x-gzip")
	f("identity", "identity")
	f("identity", "deflate")
	f("identity", "*")
	f("br, gzip, identity", "identity, gzip ;q=0.5", "br")
	// What is refused.
	f("br", "gzip;q=0, br")
	f("identity", "gzip;q=0")
	f("identity", "gzip;q=0, *")
	f("identity", "gzip, gzip;q=0")
	f("gzip, identity;q=0", "gzip, identity;q=0")
	f("gzip, identity;q=0", "gzip, *;q=0")
	f("gzip, identity", "gzip, identity;q=0.5, *;q=0")
	f("identity;q=0", "identity;q=0")
	f("identity;q=0", "*;q=0")
	f("zstd, br, gzip, identity;q=0", "identity;q=0, *")
	f("br, gzip, identity;q=0", "identity;q=0, *;q=0.3, zstd;q=0.000")
	// An absent field differs from an empty one.
	f("", "")
	f("", "", " , ")
	// Malformed members accept nothing.
	f("br", "gzip;q=, br")
	f("br", "gzip;q=1.5;q=0, gzip;q=0.1234, gzip;q=-1, gzip;level=9, gzip zstd, br;q=1.000")
	f("identity", `"gzip", gzip;q=abc`)
	if got := Codings(nil); got != nil {
		t.Errorf("no line: got %q, want nil", got)
	}
}

func TestCodingsOfCodingsAreTheSame(t *testing.T) {
	seen := map[string]bool{}
	members := []string{"gzip", "br", "zstd", "identity", "*", "deflate", "gzip;q=0", "br;q=0.0", "identity;q=0", "*;q=0", "x", "gzip;q=0.5", "", "BR"}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		var list []string
		for range rnd.IntN(5) {
			list = append(list, members[rnd.IntN(len(members))])
		}
		value := strings.Join(list, ",")
		once := Codings(lines(value))
		if twice := Codings([][]byte{once}); !bytes.Equal(once, twice) {
			t.Fatalf("%q: got %q, and of that %q", value, once, twice)
		}
		seen[string(once)] = true
	}
	if len(seen) > 2*1<<len([]string{"zstd", "br", "gzip", "identity"})+1 {
		t.Errorf("got %d forms, want no more than there are sets", len(seen))
	}
}

// RFC 9842 section 6: dcb and dcz are for clients that have named a dictionary.
func TestDictionaryCodings(t *testing.T) {
	f := func(with, without string, values ...string) {
		t.Helper()
		if got := DictionaryCodings(lines(values...)); string(got) != with {
			t.Errorf("%q with a dictionary: got %q, want %q", values, got, with)
		}
		if got := Codings(lines(values...)); string(got) != without {
			t.Errorf("%q without: got %q, want %q", values, got, without)
		}
	}
	f("zstd, br, gzip, dcb, dcz", "zstd, br, gzip", "gzip, deflate, br, zstd, dcb, dcz")
	f("gzip, dcz", "gzip", "DCZ;q=0.5, gzip")
	f("dcb, identity", "identity", "identity", "dcb")
	f("dcb", "identity", "dcb")
	f("br, dcb", "br", "br, dcb, dcz;q=0")
	f("gzip, dcb, identity;q=0", "gzip, identity;q=0", "gzip, dcb, *;q=0")
	f("zstd, br, gzip, dcz, identity;q=0", "zstd, br, gzip, identity;q=0", "identity;q=0, *, dcz")
	f("gzip", "gzip", "gzip, *")
	f("", "", "")
	if got := DictionaryCodings(nil); got != nil {
		t.Errorf("no line: got %q, want nil", got)
	}
}

// RFC 9842 section 2.2.
func TestDictionary(t *testing.T) {
	const hash = "pZGm1Av0IEBKARczz7exkNYsZb8LzaMrV7J32a2fFG4"
	f := func(want bool, value string) {
		t.Helper()
		if got := Dictionary([]byte(value)); got != want {
			t.Errorf("%q: got %v, want %v", value, got, want)
		}
	}
	f(true, ":"+hash+"=:")
	f(true, ":"+strings.Repeat("/", 42)+"w=:")
	for _, bad := range []string{
		"", ":", "::", hash, hash + "=", ":" + hash + "=", ":" + hash + "=:;a=1", ":" + hash + ":", ":" + hash[1:] + "=:", ":" + hash + "==:", ":" + hash + "x:",
		":" + strings.Replace(hash, "p", "-", 1) + "=:", ":" + strings.Replace(hash, "p", " ", 1) + "=:", "\"" + hash + "=\"", ":" + hash + "=:, :" + hash + "=:",
	} {
		f(false, bad)
	}
}

// RFC 9110 section 12.5.3.
func TestAcceptsCodings(t *testing.T) {
	f := func(want bool, contentEncoding string, values ...string) {
		t.Helper()
		if got := AcceptsCodings(lines(values...), contentEncoding); got != want {
			t.Errorf("%q for %q: got %v, want %v", contentEncoding, values, got, want)
		}
	}
	f(true, "gzip") // without the field anything will do
	f(true, "gzip", "gzip")
	f(true, "gzip", "x-gzip")
	f(true, "X-GZIP", "br, gzip;q=0.001")
	f(true, "gzip", "br", "gzip")
	f(true, "br", "gzip, *;q=0.1")
	f(true, "DEFLATE", "Deflate")
	f(true, "gzip, br", "br, gzip")
	f(true, "identity", "identity;q=0, gzip")
	f(true, "", "br")
	f(true, "our-own", "gzip, br")
	f(false, "our-own, gzip", "br")
	f(false, "aes128gcm", "gzip")
	f(false, "gzip", "identity")
	f(false, "gzip", "")
	f(false, "gzip", "br, zstd")
	f(false, "gzip", "gzip;q=0")
	f(false, "gzip", "x-gzip;q=0, *")
	f(false, "gzip", "gzip, gzip;q=0")
	f(false, "gzip", "*;q=0")
	f(false, "gzip", "identity;q=1, *;q=0") // what browsers ask with for films
	f(false, "gzip, br", "gzip")
	f(false, "compress", "gzip, deflate, br")
	f(false, "gzip", "gzip;q=2, gzip;level=9")
}

// RFC 9110 section 12.5.4, RFC 5646 section 2.1.1.
func TestAppendLanguages(t *testing.T) {
	f := func(want string, values ...string) {
		t.Helper()
		got, ok := AppendLanguages([]byte("before"), lines(values...), false)
		if !ok || string(got) != "before"+want {
			t.Errorf("%q: got %q %v, want %q", values, got, ok, want)
		}
	}
	f("en-US, en;q=0.5", "en-US,en;q=0.5")
	f("en-US, en;q=0.5", "EN-us , en ; Q=0.5")
	f("en-US, en;q=0.5", "en-us", "en;q=0.5")
	f("zh-Hant-TW, sr-Latn", "ZH-HANT-tw,SR-latn")
	f("de-CH-1996, x-en-whatever, en-a-bbbb-x-us-US", "DE-ch-1996,X-EN-WHATEVER,en-A-bbbb-X-us-US")
	f("es-419", "ES-419")
	f("*", " * ")
	f("", "")
	f("", " , ")
	f("en, de", "en,,de,")
	f("de, en", "de,en") // order may mean something to an origin
	for _, odd := range []string{`en;x="A"`, "é", "en/de"} {
		if got, ok := AppendLanguages(nil, lines("en", odd), false); ok || len(got) > 0 {
			t.Errorf("%q: got %q, want it left alone", odd, got)
		}
	}
	if _, ok := AppendLanguages(nil, nil, true); ok {
		t.Error("no line: got one")
	}
}

func TestAppendLanguagesInAnyOrder(t *testing.T) {
	f := func(a, b string, same bool) {
		t.Helper()
		x, _ := AppendLanguages([]byte("x"), lines(a), true)
		y, _ := AppendLanguages([]byte("x"), lines(b), true)
		if bytes.Equal(x, y) != same {
			t.Errorf("%q and %q: got %q and %q, want the same: %v", a, b, x, y, same)
		}
		if z, _ := AppendLanguages([]byte("x"), [][]byte{x[1:]}, true); !bytes.Equal(x, z) {
			t.Errorf("%q: got %q, and of that %q", a, x, z)
		}
	}
	f("en, de", "de,en", true)
	f("en, de;q=0.5", "de;q=0.5,en", true)
	f("en, de", "en", false)
	long := strings.Repeat("a, ", maxSorted)
	f(long+"b", "b, "+long[:len(long)-2], false) // too long to be sorted
	f(long[3:]+"b", "b, "+long[3:len(long)-2], true)
}

func FuzzLanguages(f *testing.F) {
	for _, seed := range []string{"en-US,en;q=0.5", "", ",;,", "x-A-bb;;q", "*-a, *"} {
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, value string, anyOrder bool) {
		once, ok := AppendLanguages(nil, lines(value), anyOrder)
		if !ok {
			return
		}
		if twice, ok := AppendLanguages(nil, [][]byte{once}, anyOrder); !ok || !bytes.Equal(once, twice) {
			t.Errorf("%q: got %q, and of that %q", value, once, twice)
		}
		if !bytes.Equal(once, trim(once)) {
			t.Errorf("%q: got %q, want no white space around", value, once)
		}
	})
}
