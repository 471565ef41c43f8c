package origin

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"edgeproxy/internal/http/statusclass"
)

// closingWith says that a server answers each connection with this status, and then closes it.
func closingWith(status string) script {
	return func(_ int, p *peer) {
		p.request()
		p.say("HTTP/1.1 " + status + " X\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok")
	}
}

// An operator who sees errors wants to know which server they are from.
func TestResponsesAreCountedByServerAndClass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, k := startCluster(t, Options{}, closingWith("200"), closingWith("503"))
		classes := func(want ...statusclass.Counts) {
			t.Helper()
			for i, s := range o.Stats(time.Now()).Servers {
				if s.Classes != want[i] {
					t.Errorf("%s: got %v, want %v", s.Address, s.Classes, want[i])
				}
			}
		}
		for range 6 {
			_, _, _ = fetch(o, get("/"))
		}
		classes(statusclass.Counts{statusclass.Success: 3}, statusclass.Counts{statusclass.ServerError: 3})
		k.set("a:80", closingWith("404"))
		k.set("b:80", nil)
		for range 2 { // what b refuses a answers
			_, _, _ = fetch(o, get("/"))
		}
		classes(statusclass.Counts{2: 3, 4: 2}, statusclass.Counts{statusclass.None: 1, statusclass.ServerError: 3})
		servers := o.Stats(time.Now()).Servers
		if servers[0].Failure != nil || servers[1].Failure == nil {
			t.Errorf("got failures %v and %v, want one of the second server", servers[0].Failure, servers[1].Failure)
		}
		registry := prometheus.NewPedanticRegistry()
		registry.MustRegister(NewCollector(func() []Stats { return []Stats{o.Stats(time.Now())} }))
		for of, want := range map[[2]string]float64{{"a:80", "2xx"}: 3, {"a:80", "4xx"}: 2, {"b:80", "none"}: 1, {"b:80", "5xx"}: 3, {"b:80", "2xx"}: 0} {
			if got := sample(t, registry, "edgeproxy_origin_responses_total", "app", of[0], of[1]); got != want {
				t.Errorf("metric of %v: got %v, want %v", of, got, want)
			}
		}
	})
}

// A client that leaves is no fault of the server.
func TestTheCallersEndIsNoMissingAnswer(t *testing.T) {
	s := &server{lasting: new(lasting)}
	for _, kind := range []Kind{Canceled, BadRequest, Overload, Unsupported, Fault} {
		s.countLocked(&tried{failure: &Error{Kind: kind}})
	}
	s.countLocked(&tried{failure: &Error{Kind: Cut}, stale: true})
	if s.lasting.classes.counts() != (statusclass.Counts{}) || s.failure != nil {
		t.Errorf("got %v and %v, want nothing", s.lasting.classes.counts(), s.failure)
	}
}

func TestCausesAreFewWords(t *testing.T) {
	refused := &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 80}, Err: syscall.ECONNREFUSED}
	for want, e := range map[string]*Error{
		"connection refused":                     {Kind: Connect, Err: fmt.Errorf("dial: %w", refused)},
		"its name has no address":                {Kind: Connect, Err: &net.DNSError{Name: "app.example", IsNotFound: true}},
		"its name cannot be looked up":           {Kind: Connect, Err: &net.DNSError{Name: "app.example", IsTimeout: true}},
		"its certificate is not trusted":         {Kind: Connect, Err: &tls.CertificateVerificationError{Err: errors.New("expired")}},
		"no connection in time":                  {Kind: Connect, Err: &net.OpError{Err: timeoutError{}}},
		"no answer in time":                      {Kind: Timeout, Err: errors.New("x")},
		"no connection":                          {Kind: Connect, Err: errors.New("x")},
		"an answer that is not understood":       {Kind: Malformed, Err: errors.New("x")},
		"the connection ended before the answer": {Kind: Cut, Err: errors.New("x")},
		"overload":                               {Kind: Overload, Err: errors.New("x")},
	} {
		if got := e.Cause(); got != want {
			t.Errorf("%v of %v: got %q, want %q", e.Kind, e.Err, got, want)
		}
	}
}

type timeoutError struct{}

func (timeoutError) Error() string { return "i/o timeout" }
func (timeoutError) Timeout() bool { return true }

// A reload that changed a setting of an origin began the counts of its servers anew, and lost those of requests under way.
func TestAReloadLostTheCountsOfServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before, _ := startCluster(t, Options{}, closingWith("200"), closingWith("503"))
		for range 4 {
			_, _, _ = fetch(before, get("/"))
		}
		after, _ := startCluster(t, Options{Before: before}, closingWith("404"), closingWith("404"), closingWith("200"))
		for range 3 {
			_, _, _ = fetch(after, get("/"))
		}
		_, _, _ = fetch(before, get("/")) // one that is still under way
		want := []statusclass.Counts{{2: 3, 4: 1}, {4: 1, 5: 2}, {2: 1}}
		for i, s := range after.Stats(time.Now()).Servers {
			if s.Classes != want[i] {
				t.Errorf("%s: got %v, want %v", s.Address, s.Classes, want[i])
			}
		}
	})
}

// The same happened to the servers of SRV records, which have no names of their own.
func TestAReloadLostTheCountsOfServersOfSRVRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before, old, servers := startNamed(t, Options{})
		servers.set("a:80", closingWith("200"))
		old.set([]Member{{Address: "a:80", Weight: 1}}, nil)
		_, _, _ = fetch(before, get("/"))
		after, next, _ := startNamed(t, Options{Before: before})
		next.set([]Member{{Address: "a:80", Weight: 1}}, nil)
		if got := after.Stats(time.Now()).Servers; len(got) != 1 || got[0].Classes != (statusclass.Counts{statusclass.Success: 1}) {
			t.Errorf("got %+v", got)
		}
	})
}
