package proxy

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/route/cachekey"
	"edgeproxy/internal/route/fieldrules"
)

// exchangeOf returns an exchange for a request head, as receive would see it.
func exchangeOf(t testing.TB, head string) *exchange {
	t.Helper()
	x := received(t, strings.ReplaceAll(head, "\n", "\r\n")+"\r\n\r\n")
	x.route = &route{Route: &Route{}, Key: &cachekey.Rules{}}
	return x
}

// TestNoteFieldKnowsNamesInAnyCase: in upper and lower case, and no other of its length.
func TestNoteFieldKnowsNamesInAnyCase(t *testing.T) {
	for _, name := range []string{
		"Authorization", "Cache-Control", "Cookie", "If-Match", "If-Unmodified-Since", "If-Modified-Since", "If-None-Match", "Range", "Upgrade",
		"Connection", "Expect", "CDN-Loop", "Via", "Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto",
	} {
		for spelt, want := range map[string]bool{
			name: true, strings.ToLower(name): true, strings.ToUpper(name): true,
			"Q" + name[1:]: false, name[:len(name)-1] + "q": false, name + "q": false,
		} {
			var x exchange
			x.noteField([]byte(spelt))
			if got := x.asks != (asks{}) || x.seen != (seen{}); got != want {
				t.Errorf("%s: noted %v, want %v", spelt, got, want)
			}
		}
	}
}

func TestWhatIsNotKeyedIsNotForwarded(t *testing.T) {
	x := exchangeOf(t, `GET / HTTP/1.1
Host: h
User-Agent: u
Accept: a
Accept: b
Cookie: j={"a":1}; q="x"; sid=1;
X-Forwarded-For: 6.6.6.6
X-Forwarded-Anything: 1
X_Forwarded_Host: evil
Forwarded: for=6.6.6.6
X-Real-IP: 6.6.6.6
X-Host: evil
X-Original-URL: /admin
X-Rewrite-Url: /admin
X-HTTP-Method-Override: DELETE
Connection: keep-alive, X-Mine
X-Mine: hop
Keep-Alive: timeout=5
Te: trailers
Proxy-Authorization: secret
Upgrade: h2c
Expect: nothing
Range: bytes=0-1
If-None-Match: "x"`)
	want := field.List{
		{Name: "User-Agent", Value: "u"}, {Name: "Cookie", Value: `j={"a":1}; q="x"; sid=1;`}, {Name: "Accept", Value: "a"}, {Name: "Accept", Value: "b"},
	}
	byName := cmp.Transformer("sorted", func(l field.List) map[string][]string {
		m := map[string][]string{}
		for _, f := range l {
			m[f.Name] = append(m[f.Name], f.Value)
		}
		return m
	})
	if diff := cmp.Diff(want, x.endToEndFields(fieldrules.RangeOrCondition), byName); diff != "" {
		t.Errorf("for a fetch that is kept (-want +got):\n%s", diff)
	}
	want = append(want, field.Field{Name: "Range", Value: "bytes=0-1"}, field.Field{Name: "If-None-Match", Value: `"x"`})
	if diff := cmp.Diff(want, x.endToEndFields(dropNone), byName); diff != "" {
		t.Errorf("for a fetch of its own (-want +got):\n%s", diff)
	}
}

func TestAFieldNamedByConnectionIsAbsentFromTheVariant(t *testing.T) {
	named := exchangeOf(t, "GET / HTTP/1.1\nHost: h\nAccept-Language: de\nConnection: Accept-Language")
	absent := exchangeOf(t, "GET / HTTP/1.1\nHost: h")
	there := exchangeOf(t, "GET / HTTP/1.1\nHost: h\nAccept-Language: de")
	key := func(x *exchange) string { return string(x.appendVariant(nil, []string{"Accept-Language"})) }
	if key(named) != key(absent) {
		t.Error("a field that is not forwarded selects a variant")
	}
	if key(there) == key(absent) {
		t.Error("a forwarded field selects no variant")
	}
}

func TestReadAsks(t *testing.T) {
	f := func(head string, want asks) {
		t.Helper()
		if got := exchangeOf(t, head).asks; got != want {
			t.Errorf("%q: got %+v, want %+v", head, got, want)
		}
	}
	f("GET / HTTP/1.1\nHost: h", asks{get: true})
	f("HEAD / HTTP/1.1\nHost: h\nRange:", asks{head: true, ranged: true})
	f("POST / HTTP/1.1\nHost: h\nContent-Length: 1", asks{body: true})
	f("GET / HTTP/1.1\nHost: h\nTransfer-Encoding: chunked", asks{get: true, body: true})
	f("GET / HTTP/1.1\nHost: h\nAuthorization: x\nCookie: a=b", asks{get: true, authorization: true, cookie: true})
	f("GET / HTTP/1.1\nHost: h\nIf-Modified-Since: x", asks{get: true, conditional: true})
	f("GET / HTTP/1.1\nHost: h\nIf-Match: *", asks{get: true, precondition: true})
	f("GET / HTTP/1.1\nHost: h\nConnection: upgrade\nUpgrade: websocket", asks{get: true, upgrade: true, connectionNames: true})
	f("GET / HTTP/1.1\nHost: h\nConnection: close", asks{get: true})
}

// BenchmarkVariant is what a hit pays for Vary: Accept-Encoding.
func BenchmarkVariant(b *testing.B) {
	x := exchangeOf(b, "GET / HTTP/1.1\nHost: www.example.com\n"+
		"User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)\n"+
		"Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\nAccept-Language: en-US,en;q=0.5\n"+
		"Accept-Encoding: gzip, deflate, br, zstd\nConnection: keep-alive\nCookie: session=0123456789abcdef\nReferer: http://www.example.com/")
	x.answerable = true
	names := []string{"Accept-Encoding"}
	b.ReportAllocs()
	for b.Loop() {
		x.scratch = x.appendVariant(x.scratch[:0], names)
	}
}
