package compress_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/proxy/compress"
)

// fields reads lines of a head.
func fields(lines string) (h field.List) {
	for line := range strings.SplitSeq(strings.TrimSpace(lines), "\n") {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
			h.Add(field.Canonical(name), value)
		}
	}
	return h
}

func rules() *compress.Rules {
	return &compress.Rules{Codings: []compress.Coding{compress.Zstd, compress.Gzip}, Types: []string{"text/*", "application/json"}, MinBytes: 1000}
}

func TestChoose(t *testing.T) {
	f := func(name, request string, status int, response string, length int64, want compress.Coding, varies bool) {
		t.Helper()
		got, v := rules().Choose(fields(request), status, fields(response), length)
		if got != want || v != varies {
			t.Errorf("%s: got %s, %v, want %s, %v", name, got, v, want, varies)
		}
	}
	const takes, html = "Accept-Encoding: gzip", "Content-Type: text/html; charset=utf-8"
	f("text", takes, 200, html, 1000, compress.Gzip, true)
	f("any case", takes, 200, "Content-Type: Text/HTML", 1000, compress.Gzip, true)
	f("length not known", takes, 200, html, -1, compress.Gzip, true)
	f("short", takes, 200, html, 999, compress.None, false)
	f("empty", takes, 200, html, 0, compress.None, false)
	f("an exact type", takes, 200, "Content-Type: application/json", -1, compress.Gzip, true)
	f("another type", takes, 200, "Content-Type: application/jsonp", -1, compress.None, false)
	f("a begin of a type", takes, 200, "Content-Type: text", -1, compress.None, false)
	f("half a type", takes, 200, "Content-Type: text/", -1, compress.None, false)
	f("no type", takes, 200, "", -1, compress.None, false)
	f("two types", takes, 200, html+"\n"+html, -1, compress.None, false)
	f("events", takes, 200, "Content-Type: text/event-stream;x", -1, compress.None, false)
	// What the client accepts, in the order of the operator.
	f("several", "Accept-Encoding: br, gzip, zstd", 200, html, -1, compress.Zstd, true)
	f("weights are wishes", "Accept-Encoding: zstd;q=0.1, gzip", 200, html, -1, compress.Zstd, true)
	f("refused", "Accept-Encoding: zstd;q=0, gzip", 200, html, -1, compress.Gzip, true)
	f("others", "Accept-Encoding: br, deflate", 200, html, -1, compress.None, true)
	f("none", "", 200, html, -1, compress.None, true)
	f("empty", "Accept-Encoding: ", 200, html, -1, compress.None, true)
	f("two lines", "Accept-Encoding: br\nAccept-Encoding: gzip", 200, html, -1, compress.Gzip, true)
	// Statuses.
	for status, is := range map[int]bool{200: true, 201: true, 203: true, 403: true, 404: true, 500: true, 103: false, 204: false, 205: false, 206: false, 304: false} {
		want := compress.None
		if is {
			want = compress.Gzip
		}
		f("status "+strconv.Itoa(status), takes, status, html, -1, want, is)
	}
	// What has a coding, is a part, or has to stay.
	f("has a coding", takes, 200, html+"\nContent-Encoding: br", -1, compress.None, false)
	f("a part", takes, 200, html+"\nContent-Range: bytes 0-1/2", -1, compress.None, false)
	f("no-transform of the origin", takes, 200, html+"\nCache-Control: public, no-transform", -1, compress.None, false)
	f("no-transform of the client", takes+"\nCache-Control: no-transform", 200, html, -1, compress.None, true)
	if c, v := new(compress.Rules).Choose(fields(takes), 200, fields(html), -1); c != compress.None || v {
		t.Errorf("without rules: got %s, %v", c, v)
	}
}

func TestTheHeadIsThatOfTheCoding(t *testing.T) {
	f := func(response, want string) {
		t.Helper()
		before := fields(response)
		in := fields(response)
		if diff := cmp.Diff(fields(want), compress.Encoded(in, compress.Gzip)); diff != "" {
			t.Errorf("%s\n-want +got\n%s", response, diff)
		}
		if diff := cmp.Diff(before, in); diff != "" {
			t.Errorf("the header itself was changed:\n%s", diff)
		}
	}
	f("Content-Type: text/html\nContent-Length: 5\nETag: \"a\"\nLast-Modified: x\nAccept-Ranges: bytes\nX-Accel-Expires: 5\nSurrogate-Key: a b",
		"Content-Type: text/html\nETag: W/\"a\"\nLast-Modified: x\nX-Accel-Expires: 5\nSurrogate-Key: a b\nVary: Accept-Encoding\nContent-Encoding: gzip")
	f("ETag: W/\"a\"", "ETag: W/\"a\"\nVary: Accept-Encoding\nContent-Encoding: gzip")
	f("ETag: a", "Vary: Accept-Encoding\nContent-Encoding: gzip")
	f("ETag: \"a\"\nETag: \"b\"", "Vary: Accept-Encoding\nContent-Encoding: gzip")
	f("Vary: Origin\nVary: Cookie, accept-encoding", "Vary: Origin\nVary: Cookie, accept-encoding\nContent-Encoding: gzip")
	f("Vary: Origin", "Vary: Origin\nVary: Accept-Encoding\nContent-Encoding: gzip")
	f("Vary: *", "Vary: *\nContent-Encoding: gzip")
	f("Content-Digest: a\nRepr-Digest: b\nDigest: c\nContent-MD5: d\nTrailer: X-Sum, Content-Digest , repr-digest",
		"Trailer: X-Sum\nVary: Accept-Encoding\nContent-Encoding: gzip")
}

func TestAConfirmationIsOfWhatWasCompressed(t *testing.T) {
	f := func(request, response, want string) {
		t.Helper()
		if diff := cmp.Diff(fields(want), compress.Confirmed(fields(request), fields(response))); diff != "" {
			t.Errorf("%s, %s\n-want +got\n%s", request, response, diff)
		}
	}
	f("If-None-Match: W/\"a\"", "ETag: \"a\"", "ETag: W/\"a\"")
	f("If-None-Match: W/\"a\"", "ETag: \"a\"\nVary: Origin", "ETag: W/\"a\"\nVary: Origin\nVary: Accept-Encoding")
	f("If-None-Match: \"b\", W/\"a\"", "ETag: \"a\"", "ETag: W/\"a\"")
	f("If-None-Match: W/\"a\"", "ETag: \"a\"\nRepr-Digest: b\nDigest: c\nContent-MD5: d\nContent-Digest: e", "ETag: W/\"a\"")
	f("If-None-Match: \"a\"", "ETag: \"a\"\nRepr-Digest: b", "ETag: \"a\"\nRepr-Digest: b")
	f("If-None-Match: \"a\"", "ETag: \"a\"", "ETag: \"a\"")
	f("If-None-Match: W/\"a\", \"a\"", "ETag: \"a\"", "ETag: \"a\"")
	f("If-None-Match: W/\"a\"", "ETag: W/\"a\"\nVary: Origin", "ETag: W/\"a\"\nVary: Origin")
	f("If-None-Match: W/\"a\"", "Date: x", "Date: x")
	f("If-Modified-Since: x", "ETag: \"a\"", "ETag: \"a\"")
}
