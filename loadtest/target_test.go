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
