package wire

import (
	"bufio"
	"bytes"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"
)

func TestCheckFraming(t *testing.T) {
	f := func(raw string, want error) {
		t.Helper()
		if got := checkFraming([]byte(raw)); !errors.Is(got, want) {
			t.Errorf("checkFraming(%q): got %v, want %v", raw, got, want)
		}
	}
	f("Host: a\r\n\r\n", nil)
	f("Host: a\r\nX-Y:\r\nX-Y: \xff\r\n\r\n", nil)
	f("Host: a\r\nContent-Length: 3\r\n\r\n", nil)
	f("Host: a\r\nTransfer-Encoding: chunked\r\n\r\n", nil)
	f("Host: a\n\r\n", ErrLineEnd)
	f("Host: a\r\nX: b\n\r\n", ErrLineEnd)
	f("Host: a\r\n X: folded\r\n\r\n", ErrFold)
	f("X: y\r\n\tchunked\r\n\r\n", ErrFold)
	f("Transfer-Encoding:\r\n\tchunked\r\n\r\n", ErrEncoding)
	f("Content Length: 5\r\n\r\n", ErrFieldName)
	f("Transfer-Encoding : chunked\r\n\r\n", ErrFieldName)
	f(": empty\r\n\r\n", ErrFieldName)
	f("no colon\r\n\r\n", ErrFieldName)
	f("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", ErrFraming)
	f("TRANSFER-ENCODING: chunked\r\ncontent-length: 3\r\n\r\n", ErrFraming)
	f("Content-Length: 3\r\nContent-Length: 3\r\n\r\n", ErrLength)
	f("Content-Length: \t003 \r\n\r\n", nil)
	for _, v := range []string{"", " ", "+3", "-1", "3, 3", "0x3", "3;", "3 3"} {
		f("Content-Length: "+v+"\r\n\r\n", ErrLength)
	}
	f("Transfer-Encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n", ErrEncoding)
	f("Transfer-Encoding:\tCHUNKED \r\n\r\n", nil)
	for _, v := range []string{"", "identity", "gzip, chunked", "chunked, chunked", "xchunked", "\"chunked\"", "chunked\x0b"} {
		f("Transfer-Encoding: "+v+"\r\n\r\n", ErrEncoding)
	}
	f("Host: a\r\nhost: a\r\n\r\n", ErrHosts)
	f("Host: a\r\n\r\nHost: b\n", nil) // what stands behind is not of this block
}

func TestWalkerSaysHowTheBodyIsFramed(t *testing.T) {
	f := func(raw string, chunked, framedFirst bool) {
		t.Helper()
		w := Walk([]byte(raw))
		for range w.Lines {
		}
		if w.Err() != nil || w.Chunked() != chunked || w.FramedFirst() != framedFirst {
			t.Errorf("%q: got chunked %v, framed first %v, %v; want %v, %v", raw, w.Chunked(), w.FramedFirst(), w.Err(), chunked, framedFirst)
		}
	}
	f("Host: a\r\n\r\n", false, false)
	f("Host: a\r\nContent-Length: 1\r\n\r\n", false, false)
	f("Host: a\r\nTransfer-Encoding: chunked\r\n\r\n", true, false)
	f("Content-Length: 1\r\nHost: a\r\n\r\n", false, true)
	f("Transfer-Encoding: chunked\r\nHost: a\r\n\r\n", true, true)
}

func TestParseTarget(t *testing.T) {
	f := func(raw, authority, target, path string, ambiguous bool) {
		t.Helper()
		got, err := ParseTarget([]byte(raw), "http", false, new([]byte))
		if err != nil {
			t.Errorf("ParseTarget(%q): %v", raw, err)
			return
		}
		if string(got.Authority) != authority || string(got.Normal) != target || string(got.Path) != path || got.Ambiguous != ambiguous {
			t.Errorf("ParseTarget(%q): got %q %q %q %v, want %q %q %q %v", raw,
				got.Authority, got.Normal, got.Path, got.Ambiguous, authority, target, path, ambiguous)
		}
		if authority == "" && string(got.Raw) != raw {
			t.Errorf("ParseTarget(%q): got %q as what was received", raw, got.Raw)
		}
		if _, want, _ := strings.Cut(target, "?"); string(got.Query()) != want {
			t.Errorf("ParseTarget(%q): got the query %q, want %q", raw, got.Query(), want)
		}
	}
	f("/", "", "/", "/", false)
	f("/a?", "", "/a?", "/a", false)
	f("/a?b=//../%2f", "", "/a?b=//../%2F", "/a", false)
	f("/a?b?c", "", "/a?b?c", "/a", false)
	f("/?b", "", "/?b", "/", false)
	f("/a.b/c..d/...", "", "/a.b/c..d/...", "/a.b/c..d/...", false)
	f("http://h", "h", "/", "/", false)
	f("http://h/", "h", "/", "/", false)
	f("HTTP://h:81/a?b", "h:81", "/a?b", "/a", false)
	f("//x/http://e", "", "//x/http://e", "//x/http://e", true)
	f("/a//b", "", "/a//b", "/a//b", true)
	f("/a/.", "", "/a/.", "/a/.", true)
	f("/a/../b", "", "/a/../b", "/a/../b", true)
	f("/a/%2E%2e/b", "", "/a/../b", "/a/../b", true)
	f("/a/.%2e", "", "/a/..", "/a/..", true)
	f("/a%2fb", "", "/a%2Fb", "/a%2Fb", true)
	f("/a%5cb", "", "/a%5Cb", "/a%5Cb", true)
	f("/a%00", "", "/a%00", "/a%00", true)
	f("/a%20b%zz%", "", "/a%20b%zz%", "/a%20b%zz%", false)
	f("/\xc3\xa4?\xc3\xa4", "", "/%C3%A4?%C3%A4", "/%C3%A4", false)
	f("http://h/%61?%62", "h", "/a?b", "/a", false)
}

func TestParseTargetRefuses(t *testing.T) {
	f := func(raw string, want error) {
		t.Helper()
		if _, err := ParseTarget([]byte(raw), "http", false, new([]byte)); !errors.Is(err, want) {
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
	for raw, want := range map[string]string{"*": "*", "http://h": "*", "http://h/": "/", "/": "/"} {
		if got, err := ParseTarget([]byte(raw), "http", true, new([]byte)); err != nil || string(got.Normal) != want || string(got.Path) != want {
			t.Errorf("OPTIONS %s: got %q, %q, %v, want %q", raw, got.Normal, got.Path, err, want)
		}
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
		"[]", "[fe80::1%25eth0]", "[:::]", "[::::]", "[1:2:3:4:5:6:7]", "[1::2::3]", "[12345::]", "[1.2.3.4]", "[::1.2.3.256]", "[v1.x]", "[::1]:x", "a..b", "a..", ".a", "h\x00", strings.Repeat("a", 300), "\xc3\xa4",
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
	raw, target, host := []byte("Host: a\r\nAccept: */*\r\n\r\n"), []byte("/a/b%20%7ec?\xc3\xa4"), []byte("Example.com:80")
	buf, room := make([]byte, 0, 512), make([]byte, 0, 64)
	n := testing.AllocsPerRun(100, func() {
		if checkFraming(raw) != nil {
			t.Fatal("framing")
		}
		tg, err := ParseTarget(target, "http", false, &room)
		if err != nil {
			t.Fatal(err)
		}
		h, err := AppendHost(buf[:0], host, "http")
		if err != nil {
			t.Fatal(err)
		}
		k := AppendKey(h, "http", h, tg.Normal)
		_ = AppendPath(k, tg.Path)
	})
	if n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

func FuzzParseTarget(f *testing.F) {
	for _, s := range []string{"/", "/a//b", "http://h/x?y", "/%2e%2e/", "*", "//x/http://e", "/a%2", "/%61%7e?%2f\xc3", "/%%41%4%31"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		tg, err := ParseTarget(raw, "http", false, new([]byte))
		if err != nil {
			return
		}
		if tg.Authority != nil {
			if _, err := AppendHost(nil, tg.Authority, "http"); err == nil { // a host that others read alike
				if u, err := url.ParseRequestURI(string(raw)); err == nil && (u.Host != string(tg.Authority) || u.User != nil) {
					t.Fatalf("%q: authority %q, but net/url has %q, user %v", raw, tg.Authority, u.Host, u.User)
				}
			}
		} else if string(tg.Raw) != string(raw) {
			t.Fatalf("%q: raw %q", raw, tg.Raw)
		}
		if len(tg.Normal) == 0 || tg.Normal[0] != '/' || !strings.HasPrefix(string(tg.Normal), string(tg.Path)) {
			t.Fatalf("%q: normal form %q, path %q", raw, tg.Normal, tg.Path)
		}
		if path, _, _ := bytes.Cut(tg.Raw, []byte("?")); ambiguous(path) != tg.Ambiguous {
			t.Fatalf("%q: its normal form %q is ambiguous: %v, and the target is not alike", raw, tg.Normal, tg.Ambiguous)
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

// FuzzAppendHost: a second pass does not change the canonical form, net/url reads
// the same host and port from it, and netip accepts a literal.
func FuzzAppendHost(f *testing.F) {
	for _, s := range []string{"a", "a:80", "[::1]:81", "a.:1", "u@h", "[1:2:3:4:5:6:7:8]", "[::ffff:1.2.3.4]", "[1::8]:00443"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if inside, ok := bytes.CutPrefix(raw, []byte("[")); ok {
			inside, closed := bytes.CutSuffix(inside, []byte("]"))
			a, err := netip.ParseAddr(string(inside))
			want := closed && err == nil && a.Is6() && a.Zone() == "" && len(raw) <= maxHost
			if _, err := AppendHost(nil, raw, "http"); closed && (err == nil) != want {
				t.Fatalf("%q: got %v, but for netip it is an address: %v", raw, err, want)
			}
		}
		for scheme, port := range map[string]string{"http": "80", "https": "443"} {
			got, err := AppendHost(nil, raw, scheme)
			if err != nil {
				continue
			}
			again, err := AppendHost(nil, got, scheme)
			if err != nil || string(again) != string(got) {
				t.Fatalf("%q: canonical form %q becomes %q, %v", raw, got, again, err)
			}
			u, err := url.Parse(scheme + "://" + string(got) + "/")
			if err != nil || u.Host != string(got) || u.User != nil || u.Port() == port || strings.ToLower(u.Host) != u.Host {
				t.Fatalf("%q: net/url takes %q for host %q, user %v, error %v", raw, got, u.Host, u.User, err)
			}
		}
	})
}

// FuzzParseAddr: it accepts what netip accepts, except zones, and returns the same address.
func FuzzParseAddr(f *testing.F) {
	for _, s := range []string{"1.2.3.4", "::1", "1:2:3:4:5:6:7:8", "::ffff:1.2.3.4", "1:2:3:4:5:6:1.2.3.4", "1::", "01.2.3.4", "::%a", "1:2:3:4:5:6:7::"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		want, err := netip.ParseAddr(string(raw))
		got, ok := ParseAddr(raw)
		if taken := err == nil && want.Zone() == ""; ok != taken || ok && got != want {
			t.Fatalf("%q: got %v, %v; netip has %v, %v", raw, got, ok, want, err)
		}
	})
}

// FuzzCheckFraming compares what checkFraming and fasthttp accept with net/http:
// both frame the same body for the same host. Net/http may refuse more.
func FuzzCheckFraming(f *testing.F) {
	for _, s := range []string{
		"Host: h\r\n\r\n", "Host: h\r\nContent-Length: 3\r\n\r\n", "Host: h\r\nTransfer-Encoding: chunked\r\n\r\n",
		"Content-Length: 03\r\nTransfer-Encoding: identity\r\n\r\n", "Host: h\r\nX: y\n\n\r\n\r\n", "Host: h\r\nX:\r\n y\r\n\r\n", "X : y\r\nHost: h\r\n\r\n",
	} {
		f.Add([]byte(s))
	}
	line := regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\n]*\r\n")
	f.Fuzz(func(t *testing.T, raw []byte) {
		passed := checkFraming(raw) == nil
		rest := raw
		for at := line.Find(rest); at != nil; at = line.Find(rest) {
			rest = rest[len(at):]
		}
		if lines := len(rest) == 0 || bytes.HasPrefix(rest, []byte("\r\n")); passed && !lines {
			t.Fatalf("%q passed, but %q is no field line", raw, rest)
		}
		head := append([]byte("POST / HTTP/1.1\r\n"), raw...)
		var fast fasthttp.RequestHeader
		if fast.Read(bufio.NewReaderSize(bytes.NewReader(head), len(head)+1024)) != nil || checkFraming(fast.RawHeaders()) != nil {
			return
		}
		if !bytes.HasPrefix(raw, fast.RawHeaders()) || !bytes.HasSuffix(fast.RawHeaders(), []byte("\r\n\r\n")) {
			t.Fatalf("%q: the block is %q", raw, fast.RawHeaders())
		}
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(head)))
		if err != nil {
			return
		}
		length := int64(max(fast.ContentLength(), -1)) // -2 is none, which is 0 there
		if fast.ContentLength() == -2 {
			length = 0
		}
		if r.ContentLength != length || (len(r.TransferEncoding) == 1) != (length == -1) || r.Host != string(fast.Host()) {
			t.Fatalf("%q: net/http has length %d, coding %q, host %q; fasthttp %d, %q", raw, r.ContentLength, r.TransferEncoding, r.Host, length, fast.Host())
		}
	})
}

// typical is a block of 400 bytes as browsers send it.
const typical = "Host: www.example.com\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)\r\n" +
	"Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\nAccept-Language: en-US,en;q=0.5\r\n" +
	"Accept-Encoding: gzip, deflate, br\r\nConnection: keep-alive\r\nCookie: session=0123456789abcdef\r\nReferer: http://www.example.com/\r\n\r\n"

func BenchmarkCheckFraming(b *testing.B) {
	raw := []byte(typical)
	b.ReportAllocs()
	for b.Loop() {
		_ = checkFraming(raw)
	}
}

// BenchmarkGate measures all checks of a request before its key is made: framing, target,
// host.
func BenchmarkGate(b *testing.B) {
	raw, target, host := []byte(typical), []byte("/articles/2024/05/index.html?page=2"), []byte("www.example.com")
	buf, room := make([]byte, 0, 512), []byte(nil)
	b.ReportAllocs()
	for b.Loop() {
		_ = checkFraming(raw)
		_, _ = ParseTarget(target, "http", false, &room)
		_, _ = AppendHost(buf[:0], host, "http")
	}
}

// checkFraming walks a header block, as received and without the request line, and
// returns an error if it could be framed in two ways: a line that ends in a bare LF
// (RFC 9112 section 2.2), a folded line (section 5.2), white space in or after a
// field name (section 5.1), Content-Length beside Transfer-Encoding (section 6.1),
// either of them twice, a length that is not digits (section 6.3), a coding other
// than chunked (section 7), and a second Host (section 3.2). raw is only read. It
// allocates nothing.
func checkFraming(raw []byte) error {
	w := Walk(raw)
	for range w.Lines {
	}
	return w.Err()
}

// TestABlockThatMayGoOnIsKnown: from one that is wrong already, and from one that has ended.
func TestABlockThatMayGoOnIsKnown(t *testing.T) {
	f := func(raw string, wantShort, wantEnded bool, wantBehind string) {
		t.Helper()
		w := Walk([]byte(raw))
		w.Lines(func(_, _ []byte) bool { return true })
		behind, ended := w.Behind()
		if w.Short() != wantShort || ended != wantEnded || ended && string(behind) != wantBehind {
			t.Errorf("%q: got short %v, ended %v, and %q behind", raw, w.Short(), ended, behind)
		}
	}
	f("", true, false, "")
	f("Host", true, false, "")
	f("Host: h\r", true, false, "")
	f("Host: h\r\n", true, false, "")
	f("Host: h\r\n\r", true, false, "")
	f("Host: h\r\n\r\n", false, true, "")
	f("\r\nGET", false, true, "GET")
	f("Host: h\r\n\r\nA: b\r\n\r\n", false, true, "A: b\r\n\r\n")
	f("Host: h\n", false, false, "")
	f("Host: h\r\nHost: h\r\n", false, false, "")
	f("Host: h\r\n\n", false, false, "")
	f(" Host: h\r\n", false, false, "")
}
