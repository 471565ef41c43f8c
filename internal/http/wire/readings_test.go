package wire

import (
	"slices"
	"strings"
	"testing"
)

// TestOriginsReadAPathInOtherWays: routes saw one reading of a path, and an origin served another one.
func TestOriginsReadAPathInOtherWays(t *testing.T) {
	f := func(path string, want ...string) {
		t.Helper()
		all, anywhere := Readings([]byte(path))
		got := []string{}
		for _, p := range all {
			got = append(got, string(p))
		}
		if anywhere {
			got = []string{"anywhere"}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
	f("/a/b", "/a/b")
	f("/%61", "/a")
	f("/%2561%", "/%61%")
	f("/a%2fb", "/a/b")
	f("/a//b/", "/a//b/", "/a/b/")
	f("/a%5cb", `/a\b`, "/a/b")
	f("/a;x/b;y", "/a;x/b;y", "/a/b")
	f("/;x", "/;x", "/")
	f("//a/b", "//a/b", "/b", "/a/b")
	f("///a", "///a", "/", "/a")
	f(`/%5ca/b`, `/\a/b`, "//a/b", "/b", "/a/b")
	f("/admin%3fx/y", "/admin?x/y", "/admin")
	f("/admin%23x", "/admin#x", "/admin")
	f("/a%5cb%3F;x", `/a\b?;x`, `/a\b`, "/a/b?;x", "/a/b", `/a\b?`, "/a/b?")
	f("/a%00", "anywhere")
	for _, path := range []string{"/.", "/..", "/a/./b", "/a/%2e%2E/b", "/a/..%2fb", "/a%5c..", "/..%5ca", "/..;/a", "/.%3bx", "/a/..%00", "/a/..%3fx", "/a/.%23", "/a%3f/../b"} {
		f(path, "anywhere")
	}
	for _, path := range []string{"/...", "/..a", "/a..", "/.a/b.", "/;../x", "/a;/b", "/%2e%2e%2e", "/a%3f..", "/...%3f"} {
		if _, anywhere := Readings([]byte(path)); anywhere {
			t.Errorf("%s: it may be anything, want only what it is", path)
		}
	}
	if all, _ := Readings([]byte("//%5ca;x//b;%3Fc;//d")); len(all) > 32 {
		t.Errorf("got %d readings, want 32 at most", len(all))
	}
}

// An origin that takes parameters away before it resolves a path was led out of what is added, and one that takes a backslash for a slash.
func TestDotsBesideOtherBytesAreDots(t *testing.T) {
	for path, want := range map[string]bool{
		"/api/..;/x": true, "/api/.;a=b/x": true, "/api/x/..;": true, "/api/a;b/..;c/x": true, "/;/..;/": true, `/api/..\x`: true, `/api/x\..`: true,
		`/\.;\`: true, "/..\x00": true, "/api/..?x": true, "/api/.#": true, "/a?/..": true, "/..": true, "/./x": true,
		"/api/x": false, "/api/x;..": false, "/api/..x;/y": false, "/api/x..;/y": false, "/api/;/x": false, "/a;b;c/d;..;e": false, "": false,
		"/api/x?..": false, "/api/..x?": false, `/api/..x\y`: false, `/x..\`: false, "/.../x": false,
	} {
		if got := HasDotSegment([]byte(path)); got != want {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	}
}

// FuzzReadings: what routes match is a reading, unless any path is one. No reading has a dot segment, and there are few of them.
func FuzzReadings(f *testing.F) {
	for _, path := range []string{"/a", "//a//b", "/a%5c%5cb;x", "/%2f/a", "/a/..;/b", "/%", "/a%2", "/;/;", "//%3f;%23/a%3f"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if !strings.HasPrefix(path, "/") {
			return
		}
		all, anywhere := Readings([]byte(path))
		if anywhere {
			return
		}
		matched := AppendPath(nil, []byte(path))
		if len(all) > 32 || !slices.ContainsFunc(all, func(p []byte) bool { return string(p) == string(matched) }) {
			t.Errorf("%q: got %q, want few, and among them %q", path, all, matched)
		}
		for _, p := range all {
			if len(p) == 0 || p[0] != '/' || HasDotSegment(p) {
				t.Errorf("%q: is read as %q", path, p)
			}
		}
		if kindsOf([]byte(path))&noURI == 0 && !ambiguous([]byte(path)) && ReadAlike(matched) && len(all) > 1 {
			t.Errorf("%q: got %q, want one reading of %q", path, all, matched)
		}
	})
}
