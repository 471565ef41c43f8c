package rewrite

import (
	"strings"
	"testing"

	"edgeproxy/internal/http/wire"
	"edgeproxy/internal/route/routing"
)

// Browsers take tabs out of a URL: "/", a tab, "/host" named the host.
func TestALocationWithATabIsLeftAlone(t *testing.T) {
	for _, reference := range []string{"/base/\t/evil.example/x", "http://app/base/\t/evil.example", "/base/\t\\evil.example"} {
		if got := New(Options{AddPrefix: "/base", Locations: true}, nil).Location(reference, "edge.test", "app", nil); got != reference {
			t.Errorf("%q: got %q, want it as it is", reference, got)
		}
	}
}

// FuzzRewrite: what is let through is, to an origin that decodes and resolves it, what the route took it for, with the
// other begin. So nothing leads out of that. It names no host, and a path of the origin comes back as it went.
func FuzzRewrite(f *testing.F) {
	for _, target := range []string{
		"/api", "/api/", "/api/x?y=/api", "/api?x", "//api/x", "/api//x", "/api/../api/x", "/api/%2e%2e/api", "/%61pi/x", "/api%2fx", "/api/..%2Fapi/x", "/apix", "/api/a/../b", "/api/%", "/api/.", "/api/%2f",
	} {
		f.Add(target)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		target, err := wire.ParseTarget([]byte(raw), "http", false, new([]byte))
		if err != nil || raw[0] != '/' {
			return
		}
		path := wire.AppendPath(nil, target.Path)
		for _, w := range []*Rule{New(Options{StripPrefix: "/api", AddPrefix: "/v2", Locations: true}, nil), New(Options{StripPrefix: "/api/", Locations: true}, nil), New(Options{AddPrefix: "/v2/", Locations: true}, nil)} {
			if m := (routing.Match{PathPrefixes: []string{"/" + strings.TrimPrefix(w.Strip, "/")}}); !m.TakesPath(path) || !w.Takes(target, path) {
				continue
			}
			got := w.Append(nil, target.Normal)
			asked, err := wire.ParseTarget(got, "http", false, new([]byte))
			if err != nil || asked.Path[0] != '/' || w.Strip != "" && strings.HasPrefix(string(got), "//") {
				t.Fatalf("%q: asks for %q, %v", raw, got, err)
			}
			want := w.Add + string(path)[len(w.Strip):]
			if want == "" {
				want = "/"
			}
			if read := string(wire.AppendPath(nil, asked.Path)); read != want {
				t.Errorf("%q: asks for %q, which is read as %q, want %q", raw, got, read, want)
			}
			if back := w.Location(string(got), "", "", nil); w.Add != "" && w.Strip != "" && back != string(target.Normal) {
				t.Errorf("%q: asks for %q, which comes back as %q", raw, got, back)
			}
		}
	})
}

func TestTheOriginIsAskedBelowTheOtherBegin(t *testing.T) {
	f := func(strip, add, target, want string) {
		t.Helper()
		w := New(Options{StripPrefix: strip, AddPrefix: add}, nil)
		parsed, err := wire.ParseTarget([]byte(target), "http", target == "*", new([]byte))
		if err != nil {
			t.Fatalf("%s: %v", target, err)
		}
		if path := wire.AppendPath(nil, parsed.Path); !w.Takes(parsed, path) {
			if want != "" {
				t.Errorf("%s, from %q to %q: not taken, want %s", target, strip, add, want)
			}
			return
		}
		if got := string(w.Append([]byte("before "), parsed.Normal)); got != "before "+want {
			t.Errorf("%s, from %q to %q: got %q, want %q behind what was there", target, strip, add, got, want)
		}
	}
	f("/api", "/v2", "/api/x?y=/api", "/v2/x?y=/api")
	f("/api/", "/v2/", "/api", "/v2")
	f("/api", "", "/api", "/")
	f("/api", "", "/api?x", "/?x")
	f("", "/v2", "/x", "/v2/x")
	f("/api", "/v2", "*", "*")
	f("/api", "/v2", "/api/%20", "/v2/%20")
	f("/api", "/v2", "/%61p%69/x?%2f", "/v2/x?%2F") // another spelling of the same
	// What an origin may read in another way is not taken.
	for _, target := range []string{"/api/../x", "/api/%2e%2e/x", "/api%2fx", "/api%3fx", "/api/..%3fx", "/api/..;/x", "/api/..%5cx", "/api/x%5c..", "/api/..%00", "/apix", "/ap", "/"} {
		f("/api", "/v2", target, "")
	}
	f("/api", "", "/api//evil.example/x", "")
	f("/api", "/v2", "/api//x/../y", "/v2//x/../y") // it resolves below both
}

func TestAPathAtTheOrigin(t *testing.T) {
	f := func(w *Rule, path, want string) {
		t.Helper()
		if got := w.AtOrigin(path); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
	f(nil, "/x", "/x")
	f(New(Options{StripPrefix: "/api", AddPrefix: "/v2"}, nil), "/api/x", "/v2/x")
	f(New(Options{StripPrefix: "/api", AddPrefix: "/v2"}, nil), "/other", "")
	f(New(Options{StripPrefix: "/api", AddPrefix: "/v2"}, nil), "/apix", "")
	f(New(Options{StripPrefix: "/api", AddPrefix: "/v2"}, nil), "/api", "/v2")
}

func TestALocationComesBackAsClientsHaveIt(t *testing.T) {
	w := New(Options{StripPrefix: "/api", AddPrefix: "/v2", Locations: true}, []string{"inner.test:9000"})
	f := func(reference, want string) {
		t.Helper()
		if got := w.Location(reference, "edge.test", "app:8080", nil); got != want {
			t.Errorf("%q: got %q, want %q", reference, got, want)
		}
	}
	f("/v2/x?to=/v2/y#z", "/api/x?to=/v2/y#z")
	f("/v2", "/api")
	f("http://app:8080/v2/x", "/api/x")
	f("https://INNER.test:9000/v2/x", "/api/x")
	f("//app:8080/v2/x", "/api/x")
	f("http://edge.test:80/v2/x", "http://edge.test:80/api/x")
	for _, reference := range []string{
		"/v2x", "/", "", "x", "../x", "?q", "#f", "http://app:8080", "http://app:8080/", "http://app:8080.evil.example/v2/x", "http://u@app:8080/v2/x",
		"https://else.test/v2/x", "javascript://app:8080/v2/x", "mailto:a@b", "//", "http://", "/\\v2/x",
	} {
		f(reference, reference)
	}
	// Without Strip, what follows Add must not be read as a host.
	w = New(Options{AddPrefix: "/v2", Locations: true}, nil)
	f("/v2//evil.example/x", "/v2//evil.example/x")
	f("/v2/\\evil.example/x", "/v2/\\evil.example/x")
	f("/v2", "/")
	f("/v2?q", "/?q")
}

func TestALocationThatWouldNotLeadBackIsLeftAlone(t *testing.T) {
	w := New(Options{StripPrefix: "/api", AddPrefix: "/v2", Locations: true}, nil)
	var asked []string
	never := func(out, path string) bool {
		asked = append(asked, out+" for "+path)
		return false
	}
	for _, reference := range []string{"/v2/x", "http://app/v2/x?y", "http://edge.test/v2/x"} {
		if got := w.Location(reference, "edge.test", "app", never); got != reference {
			t.Errorf("%q: got %q, want it as it is", reference, got)
		}
	}
	if got, want := strings.Join(asked, ", "), "/api/x for /v2/x, /api/x?y for /v2/x?y, /api/x for /v2/x"; got != want {
		t.Errorf("asked for %s, want %s", got, want)
	}
}
