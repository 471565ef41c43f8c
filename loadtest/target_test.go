package main

import (
	"strings"
	"testing"
)

func TestRequestTarget(t *testing.T) {
	f := func(logged, want string, plain bool) {
		t.Helper()
		if got, ok := requestTarget(logged); got != want || ok != plain {
			t.Errorf("%q: got %q, %v; want %q, %v", logged, got, ok, want, plain)
		}
	}
	f("/", "/", true)
	f("/a/b.html?q=1&r=/%2F//..", "/a/b.html?q=1&r=/%2F//..", true) // a query may hold what a path may not
	f("/a..b/.c/...", "/a..b/.c/...", true)
	f("/a b", "/a%20b", true)
	f("/a#b", "/a%23b", true)
	f("/é\x01\x7f", "/%C3%A9%01%7F", true)
	f(`/"<>[]^{|}`+"`", "/%22%3C%3E%5B%5D%5E%7B%7C%7D%60", true)
	f("/100%", "/100%25", true)
	f("/%zz%4", "/%25zz%254", true)
	f("/%41", "/%41", true)
	f("/a?b?c\\d", "/a?b?c%5Cd", true)
	f("//a", "//a", false)
	f("/a//b", "/a//b", false)
	f("/a/../b", "/a/../b", false)
	f("/a/.", "/a/.", false)
	f("/a/%2E%2e/b", "/a/%2E%2e/b", false)
	f("/a%2fb", "/a%2fb", false)
	f("/a%5Cb", "/a%5Cb", false)
	f(`/a\b`, "/a%5Cb", false)
	f("/a%00", "/a%00", false)
	f("/a\x00", "/a%00", false)
	f("http://h/a", "http://h/a", false)
	f("*", "*", false)
	f("", "", false)
	f("/"+strings.Repeat("a", maxTargetBytes), "/"+strings.Repeat("a", maxTargetBytes), false)
}

func TestDifferentKeysNeverShareATarget(t *testing.T) {
	b := newBuilder("t")
	keys := []string{"/a b", "/a%20b", "/mapped/1", "//x", "/mapped/2", "//y", "/a b", "//x"}
	for _, k := range keys {
		b.add([]byte(k), 1)
	}
	seen := map[string]bool{}
	for _, o := range b.trace.objects {
		if seen[o.target] {
			t.Errorf("target %s given twice", o.target)
		}
		seen[o.target] = true
	}
	if len(b.trace.objects) != 6 || b.trace.order[6] != b.trace.order[0] || b.trace.order[7] != b.trace.order[3] {
		t.Errorf("got %d objects, order %v; want 6, equal keys alike", len(b.trace.objects), b.trace.order)
	}
	if got := b.trace.objects[1].target; got != "/mapped/1" {
		t.Errorf("the second of two keys with one target: got %s, want a made-up one", got)
	}
	if b.trace.mapped != 5 {
		t.Errorf("got %d targets made up, want 5", b.trace.mapped)
	}
}
