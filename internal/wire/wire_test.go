package wire

import (
	"errors"
	"strings"
	"testing"
)

func TestCheckFraming(t *testing.T) {
	f := func(raw string, want error) {
		t.Helper()
		if got := CheckFraming([]byte(raw)); !errors.Is(got, want) {
			t.Errorf("CheckFraming(%q): got %v, want %v", raw, got, want)
		}
	}
	f("Host: a\r\n\r\n", nil)
	f("Host: a\r\nX-Y:\r\nX-Y: \xff\r\n\r\n", nil)
	f("Host: a\r\nContent-Length: 3\r\n\r\n", nil)
	f("Host: a\r\nTransfer-Encoding: chunked\r\n\r\n", nil)
	f("Host: a\n\r\n", ErrLineEnd)
	f("Host: a\r\nX: b\n\r\n", ErrLineEnd)
	f("Host: a\r\n X: folded\r\n\r\n", ErrFold)
	f("Transfer-Encoding:\r\n\tchunked\r\n\r\n", ErrFold)
	f("Content Length: 5\r\n\r\n", ErrFieldName)
	f("Transfer-Encoding : chunked\r\n\r\n", ErrFieldName)
	f(": empty\r\n\r\n", ErrFieldName)
	f("no colon\r\n\r\n", ErrFieldName)
	f("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", ErrFraming)
	f("TRANSFER-ENCODING: chunked\r\ncontent-length: 3\r\n\r\n", ErrFraming)
}

func TestParseTarget(t *testing.T) {
	f := func(raw, authority, target, path string, ambiguous bool) {
		t.Helper()
		got, err := ParseTarget([]byte(raw), "http", false)
		if err != nil {
			t.Errorf("ParseTarget(%q): %v", raw, err)
			return
		}
		if string(got.Authority) != authority || string(got.Raw) != target || string(got.Path) != path || got.Ambiguous != ambiguous {
			t.Errorf("ParseTarget(%q): got %q %q %q %v, want %q %q %q %v", raw,
				got.Authority, got.Raw, got.Path, got.Ambiguous, authority, target, path, ambiguous)
		}
	}
	f("/", "", "/", "/", false)
	f("/a?", "", "/a?", "/a", false)
	f("/a?b=//../%2f", "", "/a?b=//../%2f", "/a", false)
	f("/a.b/c..d/...", "", "/a.b/c..d/...", "/a.b/c..d/...", false)
	f("http://h", "h", "/", "/", false)
	f("HTTP://h:81/a?b", "h:81", "/a?b", "/a", false)
	f("//x/http://e", "", "//x/http://e", "//x/http://e", true)
	f("/a//b", "", "/a//b", "/a//b", true)
	f("/a/.", "", "/a/.", "/a/.", true)
	f("/a/../b", "", "/a/../b", "/a/../b", true)
	f("/a/%2E%2e/b", "", "/a/%2E%2e/b", "/a/%2E%2e/b", true)
	f("/a/.%2e", "", "/a/.%2e", "/a/.%2e", true)
	f("/a%2Fb", "", "/a%2Fb", "/a%2Fb", true)
	f("/a%5cb", "", "/a%5cb", "/a%5cb", true)
	f("/a%00", "", "/a%00", "/a%00", true)
	f("/a%20b%zz%", "", "/a%20b%zz%", "/a%20b%zz%", false)
	f("/\xc3\xa4", "", "/\xc3\xa4", "/\xc3\xa4", false)
}

func TestParseTargetRefuses(t *testing.T) {
	f := func(raw string, want error) {
		t.Helper()
		if _, err := ParseTarget([]byte(raw), "http", false); !errors.Is(err, want) {
			t.Errorf("ParseTarget(%q): got %v, want %v", raw, err, want)
		}
	}
	f("", ErrTarget)
	f("a", ErrTarget)
	f("://h/", ErrTarget)
	f("http:///x", ErrTarget)
	f("http://h?q", ErrTarget)
	f("https://h/", ErrScheme)
	f("ftp://h/", ErrScheme)
	f("*", ErrTargetForm)
	f("/a#b", ErrTargetBytes)
	f("/a b", ErrTargetBytes)
	f("/a\\b", ErrTargetBytes)
	f("/\x00", ErrTargetBytes)
	f("/\x7f", ErrTargetBytes)
	if got, err := ParseTarget([]byte("*"), "http", true); err != nil || string(got.Raw) != "*" {
		t.Errorf("OPTIONS *: got %q, %v", got.Raw, err)
	}
}

func TestValidMethod(t *testing.T) {
	for m, want := range map[string]bool{"GET": true, "M-SEARCH": true, "PURGE": true, "get": false, "Get": false, "": false, "G T": false, "G\x00": false} {
		if got := ValidMethod([]byte(m)); got != want {
			t.Errorf("ValidMethod(%q): got %v, want %v", m, got, want)
		}
	}
}

func TestAppendHost(t *testing.T) {
	f := func(raw, want string) {
		t.Helper()
		got, err := AppendHost(nil, []byte(raw), "http")
		if err != nil || string(got) != want {
			t.Errorf("AppendHost(%q): got %q, %v, want %q", raw, got, err, want)
		}
	}
	f("Example.COM", "example.com")
	f("example.com.", "example.com")
	f("example.com:80", "example.com")
	f("example.com:0080", "example.com")
	f("example.com.:8080", "example.com:8080")
	f("example.com:", "example.com")
	f("example.com:443", "example.com:443")
	f("127.0.0.1:9000", "127.0.0.1:9000")
	f("[::1]:80", "[::1]")
	f("[2001:DB8::1]:81", "[2001:db8::1]:81")
	f("my_host", "my_host")
}

func TestAppendHostRefuses(t *testing.T) {
	for _, raw := range []string{
		"", ".", "a,b", "user@h", "user:pw@evil", "a b", "a/b", "h:x", "h:70000", "h:0", "h:1:2", ":80", "[::1", "[::1]x",
		"[]", "[fe80::1%25eth0]", "a..b", "a..", ".a", "h\x00", strings.Repeat("a", 300), "\xc3\xa4",
	} {
		if got, err := AppendHost(nil, []byte(raw), "http"); !errors.Is(err, ErrHost) {
			t.Errorf("AppendHost(%q): got %q, %v, want %v", raw, got, err, ErrHost)
		}
	}
}

func TestKeyPartsCannotImitateEachOther(t *testing.T) {
	seen := map[string]string{}
	for _, k := range [][3]string{
		{"http", "a", "/b"},
		{"http", "a/", "b"},
		{"http", "", "a/b"},
		{"https", "a", "/b"},
		{"http", "ab", "/"},
		{"http", "a\x02/b", ""},
		{"http", "a", "/b?"},
		{"http", "a:81", "/b"},
	} {
		key := string(AppendKey(nil, k[0], []byte(k[1]), []byte(k[2])))
		if other, dup := seen[key]; dup {
			t.Errorf("%q has the key of %q", k, other)
		}
		seen[key] = strings.Join(k[:], "|")
	}
}

func TestAppendPath(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := string(AppendPath(nil, []byte(in))); got != want {
			t.Errorf("AppendPath(%q): got %q, want %q", in, got, want)
		}
	}
	f("/", "/")
	f("/a/b", "/a/b")
	f("/a/b/", "/a/b/")
	f("//a///b", "/a/b")
	f("/a/./b", "/a/b")
	f("/a/../b", "/b")
	f("/../../b", "/b")
	f("/a/..", "/")
	f("/a/b/..", "/a/")
	f("/a/.", "/a/")
	f("/%61dmin", "/admin")
	f("/x/%2e%2E/admin", "/admin")
	f("/x%2f..%2fadmin", "/admin")
	f("/a%2", "/a%2")
	f("/...", "/...")
	f("*", "*")
}

func TestRequestParsingDoesNotAllocate(t *testing.T) {
	raw, target, host := []byte("Host: a\r\nAccept: */*\r\n\r\n"), []byte("/a/b%20c?d"), []byte("Example.com:80")
	buf := make([]byte, 0, 512)
	n := testing.AllocsPerRun(100, func() {
		if CheckFraming(raw) != nil {
			t.Fatal("framing")
		}
		tg, err := ParseTarget(target, "http", false)
		if err != nil {
			t.Fatal(err)
		}
		h, err := AppendHost(buf[:0], host, "http")
		if err != nil {
			t.Fatal(err)
		}
		k := AppendKey(h, "http", h, tg.Raw)
		_ = AppendPath(k, tg.Path)
	})
	if n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

func FuzzParseTarget(f *testing.F) {
	for _, s := range []string{"/", "/a//b", "http://h/x?y", "/%2e%2e/", "*", "//x/http://e", "/a%2"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		tg, err := ParseTarget(raw, "http", false)
		if err != nil {
			return
		}
		if len(tg.Raw) == 0 || tg.Raw[0] != '/' || !strings.HasPrefix(string(tg.Raw), string(tg.Path)) {
			t.Fatalf("%q: raw %q, path %q", raw, tg.Raw, tg.Path)
		}
		p := AppendPath(nil, tg.Path)
		if len(p) == 0 || p[0] != '/' || strings.Contains(string(p), "//") || strings.Contains(string(p)+"/", "/../") {
			t.Fatalf("%q: route path %q keeps an empty or dot segment", raw, p)
		}
		if !tg.Ambiguous && strings.ContainsAny(string(p), "\\\x00") {
			t.Fatalf("%q: plain path decodes to %q", raw, p)
		}
	})
}

func FuzzAppendHost(f *testing.F) {
	for _, s := range []string{"a", "a:80", "[::1]:81", "a.:1", "u@h"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := AppendHost(nil, raw, "http")
		if err != nil {
			return
		}
		again, err := AppendHost(nil, got, "http")
		if err != nil || string(again) != string(got) {
			t.Fatalf("%q: canonical form %q becomes %q, %v", raw, got, again, err)
		}
	})
}

func BenchmarkCheckFraming(b *testing.B) {
	raw := []byte("Host: www.example.com\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)\r\n" +
		"Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\nAccept-Language: en-US,en;q=0.5\r\n" +
		"Accept-Encoding: gzip, deflate, br\r\nConnection: keep-alive\r\nCookie: session=0123456789abcdef\r\n\r\n")
	b.ReportAllocs()
	for b.Loop() {
		_ = CheckFraming(raw)
	}
}
