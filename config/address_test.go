package config

import (
	"strings"
	"testing"

	"edgeproxy/internal/http/wire"
	"edgeproxy/internal/route/routing"
)

func TestParseServer(t *testing.T) {
	for url, want := range map[string]Server{
		"http://h":                            {Weight: 1, Address: "h:80", Host: "h"},
		"http://h:80":                         {Weight: 1, Address: "h:80", Host: "h"},
		"HTTP://H.Example.:8080":              {Weight: 1, Address: "h.example:8080", Host: "h.example:8080"},
		"http://127.0.0.1:9000":               {Weight: 1, Address: "127.0.0.1:9000", Host: "127.0.0.1:9000"},
		"http://[::1]":                        {Weight: 1, Address: "[::1]:80", Host: "[::1]"},
		"http://[2001:DB8::1]:443":            {Weight: 1, Address: "[2001:db8::1]:443", Host: "[2001:db8::1]:443"},
		"http://unix:9000":                    {Weight: 1, Address: "unix:9000", Host: "unix:9000"}, // a host of that name
		"unix:/run/app.sock":                  {Weight: 1, Address: "unix:/run/app.sock", Host: "localhost"},
		"unix:/run/A:b c":                     {Weight: 1, Address: "unix:/run/A:b c", Host: "localhost"},
		"srv+http://_http._tcp.App.internal.": {SRV: true, Weight: 1, Address: "_http._tcp.app.internal", Host: "app.internal"},
		"SRV+https://app.service.consul":      {SRV: true, TLS: true, Weight: 1, Address: "app.service.consul", Host: "app.service.consul"},
		"https://h":                           {TLS: true, Weight: 1, Address: "h:443", Host: "h"},
		"https://h:443":                       {TLS: true, Weight: 1, Address: "h:443", Host: "h"},
		"https://h:80":                        {TLS: true, Weight: 1, Address: "h:80", Host: "h:80"},
	} {
		if got, err := parseServer(url); err != nil || got != want {
			t.Errorf("parseServer(%q): got %+v, %v, want %+v", url, got, err, want)
		}
	}
}

func TestParseServerRefusesSockets(t *testing.T) {
	for text, want := range map[string]string{
		"unix:": "which begins with /", "unix:run/app.sock": "which begins with /", "unix:@app": "which begins with /", "unix:/run/": "which begins with /",
		"unix:/" + strings.Repeat("x", 107): "at most 107 bytes", "unix:/a\nb": "socket in the file system",
		"http://unix:/run/app.sock": "without http:// before it", "https://unix:/run/app.sock:/": "without TLS",
	} {
		if _, err := parseServer(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("parseServer(%q): got %v, want %q", text, err, want)
		}
	}
	for _, text := range []string{"unix:/run/app.sock", "http://h:81", "https://h", "srv+http://_http._tcp.h", "srv+https://h.test"} {
		if s, err := parseServer(text); err != nil || s.URL() != text {
			t.Errorf("%s: got %s, %v back", text, s.URL(), err)
		}
	}
}

func TestParseServerRefusesServices(t *testing.T) {
	for text, want := range map[string]string{
		"srv+http://app.internal:80": "without a port: each SRV record has one", "srv+https://10.0.0.1": "an address has no SRV records", "srv+http://[::1]": "an address has no SRV records",
		"srv+http://_http._tcp": "with a domain behind the service", "srv+http://": "such as srv+http://_http._tcp.app.internal", "srv+http://-h": "must be srv+http[s]://NAME",
		"srv+http://h/": "without user, path or query", "srv+http://u@h": "without user, path or query", "srv+ftp://h": "srv+http[s]://NAME, or unix:/PATH", "srv+http://h:x": "must be srv+http[s]://NAME",
	} {
		if _, err := parseServer(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("parseServer(%q): got %v, want %q", text, err, want)
		}
	}
}

func TestValidHostLengths(t *testing.T) {
	label := strings.Repeat("a", 63)
	longest := strings.Join([]string{label, label, label, label[:61]}, ".")
	for host, want := range map[string]bool{label: true, label + "a": false, longest: true, longest + "a": false} {
		if got := wire.ValidName(host); got != want {
			t.Errorf("a host of %d: got %v, want %v", len(host), got, want)
		}
	}
}

func TestLoopback(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1:1": true, "127.8.9.10:1": true, "[::1]:1": true, "[::ffff:127.0.0.1]:1": true, "localhost:1": true, "LocalHost:1": true,
		":1": false, "0.0.0.0:1": false, "[::]:1": false, "10.0.0.1:1": false, "example.com:1": false, "localhost.example.com:1": false,
	} {
		if got := loopback(address); got != want {
			t.Errorf("loopback(%q): got %v, want %v", address, got, want)
		}
	}
}

func TestMatchCovers(t *testing.T) {
	match := func(prefix string, hosts ...string) routing.Match {
		m := routing.Match{PathPrefixes: []string{prefix}}
		for _, h := range hosts {
			p, err := routing.ParseHost(h)
			if err != nil {
				t.Fatal(err)
			}
			m.Hosts = append(m.Hosts, p)
		}
		return m
	}
	check := func(early, late routing.Match, want bool) {
		if got := early.Covers(&late); got != want {
			t.Errorf("%+v covers %+v: got %v, want %v", early, late, got, want)
		}
	}
	check(match("/", "*"), match("/", "*"), true)
	check(match("/", "*"), match("/a", "*.b.c:1"), true)
	check(match("/a", "*"), match("/a/", "*"), true)
	check(match("/a/", "*"), match("/a", "*"), false)
	check(match("/a/", "*"), match("/a/b", "*"), true)
	check(match("/a", "*"), match("/ab", "*"), false)
	check(match("/a", "*"), match("/", "*"), false)
	check(match("/", "b.c"), match("/", "*"), false)
	check(match("/", "*.c"), match("/", "*.b.c"), true)
	check(match("/", "*.b.c"), match("/", "*.c"), false)
	check(match("/", "*.c"), match("/", "c"), false)
	check(match("/", "*.c"), match("/", "bc"), false)
	check(match("/", "c"), match("/", "*.c"), false)
	check(match("/", "c"), match("/", "c:1"), true)
	check(match("/", "c:1"), match("/", "c"), false)
	check(match("/", "c:1"), match("/", "c:2"), false)
	check(match("/", "a", "b"), match("/", "b", "a"), true)
	check(match("/", "a", "b"), match("/", "b", "c"), false)
}

func TestEveryHostOfAPortWasRefused(t *testing.T) {
	const file = "origins: {app: {servers: [\"http://h\"]}}\nroutes:\n" +
		"  - {name: http, match: {hosts: [\"*:80\"]}, redirect: {to: \"https://{host}{uri}\"}}\n" +
		"  - {name: site, origin: app}\n"
	c, err := Parse("edge.yaml", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Routes[0].Match.Hosts[0].String(); got != "*:80" {
		t.Errorf("got the pattern %s back", got)
	}
}
