package main

import "testing"

// TestAURLIsDroppedInEverySpelling: what is on the disk has a URL in its normal form, and another spelling of it dropped nothing.
func TestAURLIsDroppedInEverySpelling(t *testing.T) {
	f := func(url, want string) {
		t.Helper()
		if got, err := canonicalURL(url); err != nil || got != want {
			t.Errorf("%s: got %s, %v, want %s", url, got, err, want)
		}
	}
	f("HTTP://A.example:80/x?y", "http://a.example/x?y")
	f("http://a.example/%7e%d0%bf?%2f", "http://a.example/~%D0%BF?%2F")
	f("http://a.example/~\u043f?%2F", "http://a.example/~%D0%BF?%2F")
}
