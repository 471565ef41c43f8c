package wire

import (
	"strings"
	"testing"
)

// TestASpellingIsNoResource: %d0%bf and %D0%BF, %7E and ~ had a key each.
func TestASpellingIsNoResource(t *testing.T) {
	f := func(target, want string) {
		t.Helper()
		if got := string(AppendNormal([]byte("before "), []byte(target))); got != "before "+want {
			t.Errorf("%s: got %q, want %q behind what was there", target, got, want)
		}
	}
	f("/a/b?c=d", "/a/b?c=d")
	f("/%d0%bf?%d0%bF", "/%D0%BF?%D0%BF")
	f("/%D0%BF", "/%D0%BF")
	f("/\xd0\xbf?\xff", "/%D0%BF?%FF")
	f("/%7E%2d%2E%5f%41%7a%30", "/~-._Az0")
	f("/?%61%3d%62", "/?a%3Db")
	f("*", "*")
	// What is reserved means something else where it is not escaped, and the rest is no URI without the escape.
	f("/%2f%3f%23%5b%40%21%24%26%27%28%29%2a%2b%2c%3b%3d%3a", "/%2F%3F%23%5B%40%21%24%26%27%28%29%2A%2B%2C%3B%3D%3A")
	f("/%25%20%22%3c%5c%5e%60%7b%7c%7f%00", "/%25%20%22%3C%5C%5E%60%7B%7C%7F%00")
	f("/a+b !*'();:@&=$,[]", "/a+b !*'();:@&=$,[]")
	// A percent sign that encodes nothing stays, and gets no digits.
	f("/100%?%zz%4&%", "/100%?%zz%4&%")
	f("/%%41", "/%%41")
	f("/%4%31", "/%4%31")
	f("/%%34%31", "/%%341")
	f("/%g%41%e", "/%g%41%e")
	f("/%gg%41", "/%ggA")
	f("/%25%34%31", "/%2541")
	f("/%2541", "/%2541")
}

// TestAPrefixThatEndsWithinAnEscapePurgedNothing: the escape is of a character that normal forms have without it, or has digits in upper case there.
func TestAPrefixThatEndsWithinAnEscapePurgedNothing(t *testing.T) {
	f := func(raw, want, path string) {
		t.Helper()
		target, err := ParseTarget([]byte(raw), "http", false, new([]byte))
		if err != nil {
			t.Fatal(err)
		}
		got := target.Prefix()
		if string(got.Normal) != want || string(got.Path) != path {
			t.Errorf("%s: got %q with the path %q, want %q with %q", raw, got.Normal, got.Path, want, path)
		}
	}
	f("/", "/", "/")
	f("/a?b", "/a?b", "/a")
	f("/%d0", "/%D0", "/%D0")
	f("/%d0%b", "/%D0", "/%D0")
	f("/%d0%", "/%D0", "/%D0")
	f("/a?%6", "/a?", "/a")
	f("/a%?", "/a%?", "/a%")
	f("/a%z", "/a%z", "/a%z")
	f("/a%zz", "/a%zz", "/a%zz")
	f("/%%4", "/%", "/%")
}

// FuzzAppendNormal: it means what the target means, also to an origin that is easy on percent signs. It has one form: a second pass changes
// nothing, and neither do other spellings of its bytes. It begins with the normal form of what the target begins with.
func FuzzAppendNormal(f *testing.F) {
	for _, target := range []string{"/a", "/%61%d0?%2F", "/%%41%4%31%", "/\xff%zz%41%%%30", "/a%2%35%%2541"} {
		f.Add(target, uint(3))
	}
	f.Fuzz(func(t *testing.T, target string, cut uint) {
		normal := AppendNormal(nil, []byte(target))
		if again := AppendNormal(nil, normal); string(again) != string(normal) {
			t.Fatalf("%q: got %q, and of that %q", target, normal, again)
		}
		if got, want := unescapedAll(string(normal)), unescapedAll(target); got != want {
			t.Fatalf("%q: got %q, which means %q and not %q", target, normal, got, want)
		}
		if i := strings.IndexFunc(string(normal), func(r rune) bool { return r > 0x7f }); i >= 0 {
			t.Fatalf("%q: got %q, want ASCII", target, normal)
		}
		if wellFormed(target) {
			lower := strings.NewReplacer("%D", "%d", "%E", "%e", "~", "%7e").Replace(target)
			if other := AppendNormal(nil, []byte(lower)); string(other) != string(normal) {
				t.Fatalf("%q: got %q, and %q of the spelling %q", target, normal, other, lower)
			}
		}
		begin := Target{Normal: AppendNormal(nil, []byte(target[:cut%uint(len(target)+1)]))}.Prefix()
		if !strings.HasPrefix(string(normal), string(begin.Normal)) {
			t.Fatalf("%q: got %q, which does not begin with %q", target, normal, begin.Normal)
		}
	})
}

// unescapedAll decodes as an origin does for which a percent sign without two digits stands for itself.
func unescapedAll(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c, n := s[i], 1
		if c == '%' {
			c, n = escaped([]byte(s[i:]))
		}
		b.WriteByte(c)
		i += n - 1
	}
	return b.String()
}

// wellFormed reports whether each percent sign of s begins an escape.
func wellFormed(s string) bool {
	for i := range len(s) {
		if s[i] == '%' {
			if _, n := escaped([]byte(s[i:])); n == 1 {
				return false
			}
		}
	}
	return true
}

// BenchmarkNormal measures targets as they are, and one that is spelt otherwise.
func BenchmarkNormal(b *testing.B) {
	for name, target := range map[string]string{
		"plain": "/articles/2024/05/index.html?page=2", "escaped": "/%D1%81%D1%82%D0%B0%D1%82%D1%8C%D1%8F/?page=2", "spelt": "/%d1%81%d1%82%d0%b0%d1%82%d1%8c%d1%8f/?page=2",
	} {
		b.Run(name, func(b *testing.B) {
			raw, room := []byte(target), []byte(nil)
			b.ReportAllocs()
			for b.Loop() {
				_, _ = ParseTarget(raw, "http", false, &room)
			}
		})
	}
}
