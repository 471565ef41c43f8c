package edge

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"edgeproxy/config"
)

func TestAServerThatIsAListener(t *testing.T) {
	ours := []netip.Addr{netip.MustParseAddr("192.0.2.7"), netip.MustParseAddr("2001:db8::7")}
	f := func(server, listener string, want bool) {
		t.Helper()
		if got := endsAt(server, listener, ours); got != want {
			t.Errorf("%s by %s: got %v, want %v", server, listener, got, want)
		}
	}
	for _, everywhere := range []string{":80", "0.0.0.0:80", "[::]:80"} {
		for _, server := range []string{"127.0.0.1:80", "127.9.9.9:80", "localhost:80", "LOCALHOST:80", "192.0.2.7:80", "0.0.0.0:80", "[::ffff:127.0.0.1]:80"} {
			f(server, everywhere, everywhere != "[::]:80" || strings.EqualFold(server, "localhost:80")) // which is IPv6 alone
		}
		for _, server := range []string{"127.0.0.1:81", "192.0.2.8:80", "www.example.com:80", "[2001:db8::8]:80"} {
			f(server, everywhere, false)
		}
		f("[2001:db8::7]:80", everywhere, everywhere != "0.0.0.0:80")
		f("[::1]:80", everywhere, everywhere != "0.0.0.0:80")
		f("[::]:80", everywhere, everywhere != "0.0.0.0:80")
	}
	f("127.0.0.1:80", "127.0.0.1:80", true)
	f("127.0.0.1:80", "127.0.0.2:80", false)
	f("localhost:80", "127.0.0.1:80", true)
	f("localhost:80", "[::1]:80", true)
	f("127.0.0.1:80", "localhost:80", true)
	f("192.0.2.7:80", "127.0.0.1:80", false)
	f("192.0.2.7:80", "192.0.2.7:80", true)
	f("192.0.2.9:80", "192.0.2.9:80", false) // an address of another machine, as far as we know
	f("edge.example.com:80", "edge.example.com:80", true)
	f("127.0.0.1:80", "edge.example.com:80", false)
	f("127.0.0.1:80", "unix:/run/edge.sock", false)
	f("unix:/run/edge.sock", "unix:/run/edge.sock", true)
	f("unix:/run/app.sock", "unix:/run/edge.sock", false)
}

// An origin that is the proxy itself passed check without a word, and each request went in a circle once.
func TestCheckPassedAnOriginThatIsTheEdge(t *testing.T) {
	f := func(text string, want ...string) {
		t.Helper()
		c, err := config.Parse("e.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, w := range Warnings(c) {
			got = append(got, w.String())
		}
		for i, w := range want {
			want[i] = "e.yaml:" + w + "requests loop back, and are answered with 508"
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	f("origins: {app: {servers: [\"http://127.0.0.1:9\"]}}\n")
	f("origins: {app: {servers: [\"http://127.0.0.1:9\", \"http://localhost:8080\"]}}\n",
		"1:49: origins.app.servers[1]: http://localhost:8080: this is edgeproxy itself (listen[0]): ")
	f("listen: [{address: \"127.0.0.1:81\"}, {address: \":80\"}]\norigins: {app: {servers: [{url: \"http://127.0.0.2\", weight: 2}]}}\n",
		"2:33: origins.app.servers[0].url: http://127.0.0.2: this is edgeproxy itself (listen[1]): ")
}

// An origin by a host name that leads back to the proxy passed check without a word.
func TestCheckPassedAnOriginWhoseNameIsTheEdge(t *testing.T) {
	ours := []netip.Addr{netip.MustParseAddr("192.0.2.7")}
	names := map[string]string{"www.example.com": "192.0.2.7", "mapped.example.com": "::ffff:192.0.2.7", "app.example.com": "192.0.2.8", "loop.example.com": "127.0.1.1"}
	f := func(servers, want, asks string) {
		t.Helper()
		c, err := config.Parse("e.yaml", []byte("listen: [{address: \":80\"}]\norigins: {app: {servers: ["+servers+"]}}\n"))
		if err != nil {
			t.Fatal(err)
		}
		var got, asked string
		for _, w := range resolvedLoops(t.Context(), c, ours, func(_ context.Context, _, host string) ([]netip.Addr, error) {
			asked += host + " "
			if a, ok := names[host]; ok {
				return []netip.Addr{netip.MustParseAddr(a)}, nil
			}
			return nil, errors.New("no such host")
		}) {
			got += w.String() + "\n"
		}
		if want != "" {
			want = "e.yaml:2:" + want + ": by its name this is edgeproxy itself (listen[0]): requests loop back, and are answered with 508\n"
		}
		if got != want || asked != asks {
			t.Errorf("%s: got %q, asked for %q; want %q, %q", servers, got, asked, want, asks)
		}
	}
	f(`"http://www.example.com"`, "27: origins.app.servers[0]: http://www.example.com", "www.example.com ")
	f(`"http://mapped.example.com"`, "27: origins.app.servers[0]: http://mapped.example.com", "mapped.example.com ")
	f(`"http://loop.example.com"`, "27: origins.app.servers[0]: http://loop.example.com", "loop.example.com ")
	f(`"http://app.example.com", "http://gone.example.com"`, "", "app.example.com gone.example.com ")
	f(`"http://www.example.com:81", "http://127.0.0.1", "unix:/run/app.sock"`, "", "") // another port; not by name
}
