package origin

import (
	"io"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"edgeproxy/internal/origin/balance"
)

// ways are those in which a server breaks before its head is whole, but for a connection that cannot be made.
func ways() map[string]script {
	after := func(answer string) script {
		return func(_ int, p *peer) {
			p.request()
			p.say(answer)
		}
	}
	return map[string]script{
		"accepts and closes":      func(int, *peer) {},
		"closes behind a request": after(""),
		"half a head":             after("HTTP/1.1 200 OK\r\nContent-Le"),
		"garbage":                 after("\x15\x03\x01\x00\x02\x02\x46 what is this\r\n\r\n"),
		"silence": func(_ int, p *peer) {
			p.request()
			p.untilClosed()
		},
	}
}

func again(o Options) Options {
	o.Retry.Budget, o.FirstByteTimeout = 0.2, time.Second
	return o
}

// Of two servers one broke each request that it got, before it said anything. Half of the clients got a 502, while the other server
// was well.
func TestAServerThatBrokeAnswersHadItsClientsRefused(t *testing.T) {
	for name, broken := range ways() {
		for _, method := range []string{"GET", "HEAD", "OPTIONS", "QUERY"} {
			synctest.Test(t, func(t *testing.T) {
				o, k := startCluster(t, again(Options{}), broken, each(okWire))
				for n := range 10 {
					r := &Request{Method: method, Target: "/", Host: "h"}
					if method == "QUERY" {
						r.Body, r.ContentLength, r.Whole = strings.NewReader("q"), 1, []byte("q")
					}
					if _, _, err := fetch(o, r); err != nil {
						t.Fatalf("%s, %s, request %d: got %v, want what the other server says; dialled: %s", name, method, n, err, k.dialled())
					}
				}
				wantRest(t, o, idleCount(o))
			})
		}
	}
}

// What a server may have done is not done again by another.
func TestOnlySafeMethodsGoToAnotherServer(t *testing.T) {
	for name, broken := range ways() {
		for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "FOO"} {
			synctest.Test(t, func(t *testing.T) {
				o, k := startCluster(t, again(Options{}), broken, each(okWire))
				if _, _, err := fetch(o, &Request{Method: method, Target: "/", Host: "h"}); err == nil {
					t.Errorf("%s, %s: got an answer, want the failure", name, method)
				}
				wantDialled(t, k, "a")
			})
		}
	}
}

// A client has part of an answer if it got an interim response. And a whole head is an answer, whatever becomes of its body.
func TestNothingIsSentAgainBehindAPartOfAnAnswer(t *testing.T) {
	f := func(name, says string, r *Request) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			o, k := startCluster(t, again(Options{}), func(_ int, p *peer) {
				p.request()
				p.say(says)
			}, each(okWire))
			if _, _, err := fetch(o, r); err == nil {
				t.Errorf("%s: got an answer, want the failure", name)
			}
			wantDialled(t, k, "a")
		})
	}
	f("an interim response", "HTTP/1.1 103 Early Hints\r\n\r\n", get("/"))
	f("half a body", okWire[:len(okWire)-1], get("/"))
}

// A server that is alone, and closes a connection without a byte, is asked once more. One that hangs or sends garbage would do it again.
func TestTheOnlyServerIsAskedOnceMoreIfItSaidNothing(t *testing.T) {
	for name, broken := range ways() {
		synctest.Test(t, func(t *testing.T) {
			o, k := startCluster(t, again(Options{}), broken)
			if _, _, err := fetch(o, get("/")); err == nil {
				t.Errorf("%s: got an answer", name)
			}
			want := "a a"
			if name == "silence" || name == "garbage" || name == "half a head" {
				want = "a"
			}
			wantDialled(t, k, want)
			wantRest(t, o, 0)
		})
	}
}

// Two servers that break are asked once each, and a third is not: what breaks them may be the request.
func TestARequestIsSentOnceMoreAtMost(t *testing.T) {
	for name, broken := range ways() {
		synctest.Test(t, func(t *testing.T) {
			o, k := startCluster(t, again(Options{}), broken, broken, broken)
			if _, _, err := fetch(o, get("/")); err == nil {
				t.Errorf("%s: got an answer", name)
			}
			wantDialled(t, k, "a b")
			wantRest(t, o, 0)
		})
	}
}

// An origin of which everything breaks is not sent twice as much for it: a fifth more, and twenty in ten seconds in any case.
func TestRetriesHaveABudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := ways()["closes behind a request"]
		registry := prometheus.NewRegistry()
		o, k := startCluster(t, again(Options{Metrics: NewMetrics(registry)}), broken, broken)
		send := func(n int) int {
			for range n {
				_, _, _ = fetch(o, get("/"))
			}
			return len(strings.Fields(k.dialled())) - n
		}
		if got := send(60); got != 20 {
			t.Errorf("60 requests: got %d more, want 20", got)
		}
		if got := send(140); got != 20 {
			t.Errorf("200 requests: got %d more, want 40 in all", got)
		}
		if got := sample(t, registry, "edgeproxy_origin_retries_total", "app"); got != 40 {
			t.Errorf("got %v retries, want 40", got)
		}
		if got := sample(t, registry, "edgeproxy_origin_retries_refused_total", "app"); got != 160 {
			t.Errorf("got %v refused, want 160", got)
		}
		time.Sleep(11 * time.Second)
		if got := send(60); got != 20 {
			t.Errorf("ten seconds later: got %d more, want 20", got)
		}
	})
}

func TestABudgetOfNoneSendsNothingAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, k := startCluster(t, Options{}, ways()["closes behind a request"], each(okWire))
		if _, _, err := fetch(o, get("/")); err == nil {
			t.Error("got an answer, want the failure")
		}
		wantDialled(t, k, "a")
	})
}

// With retry.statuses another server answers in place of one that says 503; where there is none its answer stands.
func TestAnotherServerAnswersInPlaceOfAStatus(t *testing.T) {
	const unavailable = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nbusy"
	o := again(Options{})
	o.Retry.Statuses = []int{502, 503}
	f := func(name string, r *Request, o Options, status int, dialled string, scripts ...script) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			origin, k := startCluster(t, o, scripts...)
			res, err := origin.RoundTrip(t.Context(), r)
			if err != nil || res.Status != status {
				t.Fatalf("%s: got %+v, %v, want status %d", name, res, err, status)
			}
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
			wantDialled(t, k, dialled)
			wantRest(t, origin, idleCount(origin))
		})
	}
	busy, ok := each(unavailable), each(okWire)
	f("another one", get("/"), o, 200, "a b", busy, ok)
	f("alone", get("/"), o, 503, "a", busy)
	f("both", get("/"), o, 503, "a b", busy, busy, ok)
	f("without a body", get("/"), o, 200, "a b", each("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"), ok)
	f("another status", get("/"), o, 500, "a", each("HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n"), ok)
	f("POST", &Request{Method: "POST", Target: "/", Host: "h"}, o, 503, "a", busy, ok)
	f("not asked for", get("/"), again(Options{}), 503, "a", busy, ok)
	share := o
	share.OriginShare, share.MaxConnections = 0.5, 4
	who := get("/")
	who.Client = netip.MustParsePrefix("192.0.2.1/32")
	f("of a client with a share", who, share, 200, "a b", busy, ok)
}

// At one request a second no server was ever ejected, since twenty within ten seconds have to break. That another server answers the same
// request says that the server is at fault.
func TestABrokenServerWasNeverEjectedWhereRequestsAreFew(t *testing.T) {
	for name, broken := range ways() {
		synctest.Test(t, func(t *testing.T) {
			o, k := startCluster(t, again(Options{
				Settings: Settings{Ejection: balance.Ejection{
					Failures: 5, Ratio: 0.5, Window: 10 * time.Second, Requests: 20, Targets: 5, Backoff: time.Minute, MaxBackoff: time.Minute,
				}},
			}), broken, each(okWire))
			for range 20 {
				wantBody(t, o, get("/"), "ok")
				time.Sleep(time.Second)
			}
			if got := strings.Count(k.dialled(), "a"); got != 5 {
				t.Errorf("%s: got %d requests to the broken server, want 5", name, got)
			}
		})
	}
}

// If no server answers the request, the request may be the cause, and ejects none.
func TestARequestThatBreaksEveryServerEjectsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := func(_ int, p *peer) {
			for {
				switch r := p.request(); {
				case r == "" || strings.HasPrefix(r, "GET /bad"):
					return
				default:
					p.say(okWire)
				}
			}
		}
		var changes []Change
		o, _ := startCluster(t, again(Options{
			OnChange: func(c Change) { changes = append(changes, c) },
			Settings: Settings{Ejection: balance.Ejection{
				Failures: 2, Ratio: 0.5, Window: 10 * time.Second, Requests: 20, Targets: 5, Backoff: time.Minute, MaxBackoff: time.Minute,
			}},
		}), bad, bad)
		for range 30 {
			_, _, _ = fetch(o, get("/bad"))
			wantBody(t, o, get("/"), "ok")
			time.Sleep(time.Second)
		}
		if len(changes) > 0 {
			t.Errorf("got %v, want no server out", changes)
		}
	})
}
