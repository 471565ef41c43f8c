package config

import "testing"

func TestAddressesThatOverlapPassedTheCheck(t *testing.T) {
	f := func(a, b string, want bool) {
		t.Helper()
		l, o := Listen{Address: a}, Listen{Address: b}
		if got := l.overlaps(&o); got != want {
			t.Errorf("%s and %s: got %v, want %v", a, b, got, want)
		}
		if got := o.overlaps(&l); got != want {
			t.Errorf("%s and %s: got %v, want %v", b, a, got, want)
		}
	}
	f(":80", ":80", true)
	f(":80", ":81", false)
	f(":0", ":0", false)
	f(":80", "0.0.0.0:80", true)
	f(":80", "[::]:80", true)
	f(":80", "192.0.2.1:80", true)
	f(":80", "www.example.com:80", true)
	f("0.0.0.0:80", "[::]:80", false)
	f("0.0.0.0:80", "192.0.2.1:80", true)
	f("0.0.0.0:80", "[2001:db8::1]:80", false)
	f("[::]:80", "[2001:db8::1]:80", true)
	f("[::]:80", "192.0.2.1:80", false)
	f("192.0.2.1:80", "192.0.2.2:80", false)
	f("[2001:db8::1]:80", "[2001:DB8:0::1]:80", true)
	f("[fe80::1%eth0]:80", "[fe80::1%eth1]:80", false)
	f("localhost:80", "LOCALHOST:80", true)
	f("localhost:80", "127.0.0.1:80", true)
	f("localhost:80", "[::1]:80", false)
	f("www.example.com:80", "WWW.example.com:80", true)
	f("www.example.com:80", "0.0.0.0:80", false) // nobody knows
	f("unix:/a/b", ":80", false)
	f("unix:/a/b", "unix:/a/./b", true)
	f("unix:/a/b", "unix:/a/B", false)
}
