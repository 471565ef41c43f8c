package rfc9111

import (
	"net/http"
	"slices"
	"testing"

	"edgeproxy/internal/http/field"
)

func TestTrailersThatGoOn(t *testing.T) {
	for _, name := range []string{"X-Sum", "Etag", "Content-Digest", "Repr-Digest", "Digest", "Server-Timing", "Grpc-Status", "Grpc-Message", "Expires-X", "Acceptance", "X_y"} {
		if !InTrailers(name) {
			t.Errorf("%s: dropped, want it kept", name)
		}
	}
	for _, name := range []string{
		"Transfer-Encoding", "Content-Length", "Trailer", "Connection", "Te", "Upgrade", "Keep-Alive", "Http2-Settings", // framing
		"Host", "Via", "Forwarded", "X-Forwarded-For", "X-Real-Ip", "Cdn-Loop", "Max-Forwards", // routing
		"Authorization", "Proxy-Authorization", "Proxy-Authenticate", "Www-Authenticate", "Authentication-Info", "Cookie", "Set-Cookie", // authentication
		"Cache-Control", "Expect", "Range", "If-Match", "If-None-Match", "Accept", "Accept-Encoding", "Pragma", // request modifiers
		"Age", "Date", "Expires", "Location", "Retry-After", "Vary", "Warning", "Surrogate-Key", "Cache-Tag", "Cache-Status", "Cdn-Cache-Control", // response controls
		"Content-Encoding", "Content-Type", "Content-Range", "Content-Security-Policy", "Last-Modified", // the content
		"Content_length", "Transfer_encoding", "Set_cookie", "X_forwarded_for", "Www_authenticate",
	} {
		if InTrailers(name) {
			t.Errorf("%s: kept, want it dropped", name)
		}
	}
}

func TestTrailersNamedByConnection(t *testing.T) {
	head := field.List{{Name: "Connection", Value: "close, x-hop, Host"}, {Name: "Trailer", Value: "X-Hop, x-sum ,, X Y, Host"}, {Name: "Trailer", Value: "X-SUM, Etag"}}
	section := field.List{{Name: "X-Hop", Value: "1"}, {Name: "X-Sum", Value: "2"}, {Name: "Host", Value: "3"}, {Name: "X-Sum", Value: "4"}}
	if got, want := Trailers(head, section), (field.List{{Name: "X-Sum", Value: "2"}, {Name: "X-Sum", Value: "4"}}); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := Trailers(head, nil); got != nil {
		t.Errorf("got %q of nothing, want nil", got)
	}
	if got, want := Announced(head), "X-Sum, Etag"; got != want {
		t.Errorf("announced: got %q, want %q", got, want)
	}
	if got := Announced(field.List{{Name: "Trailer", Value: "Content-Length"}}); got != "" {
		t.Errorf("announced: got %q, want nothing", got)
	}
}

func TestTEThatTakesTrailers(t *testing.T) {
	for te, want := range map[string]bool{
		"trailers": true, "Trailers": true, "gzip;q=0.5, trailers": true, " trailers\t,": true, "": false, "gzip": false, "trailer": false, "trailers;q=1": false, "x-trailers": false, "trailers gzip": false,
	} {
		if got := TakesTrailers(te); got != want {
			t.Errorf("%q: got %v, want %v", te, got, want)
		}
	}
}

// FuzzTrailers: no name that goes on is one of those that the header section alone may
// have, in whatever spelling servers read it, and net/http would take each for a trailer.
func FuzzTrailers(f *testing.F) {
	f.Add("X-Sum", "Host, X-Sum")
	f.Add("content_LENGTH", "Content_Length")
	f.Fuzz(func(t *testing.T, name, announced string) {
		head := field.List{{Name: "Trailer", Value: announced}}
		for _, kept := range Trailers(head, field.List{{Name: field.Canonical(name), Value: "v"}}) {
			if HopByHop(http.CanonicalHeaderKey(kept.Name)) || kept.Name == "Host" || kept.Name == "Content-Length" || kept.Name == "Content_length" {
				t.Errorf("%q is kept", kept.Name)
			}
		}
		if list := Announced(head); list != "" {
			if again := Announced(field.List{{Name: "Trailer", Value: list}}); again != list {
				t.Errorf("got %q of %q, want it as it is", again, list)
			}
		}
	})
}
