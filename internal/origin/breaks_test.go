package origin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"edgeproxy/internal/origin/balance"
)

// byShare ejects as the program does by default.
func byShare() balance.Ejection {
	return balance.Ejection{
		Failures: 5, Ratio: 0.5, Window: 10 * time.Second, Requests: 20, Targets: 5,
		Backoff: 10 * time.Second, MaxBackoff: time.Minute,
	}
}

// hangsUpOn answers requests but those whose head has the text.
func hangsUpOn(text string) script {
	return func(_ int, p *peer) {
		for {
			head := p.request()
			if head == "" || strings.Contains(head, text) {
				return
			}
			p.say(okWire)
		}
	}
}

// A client that found a URL that makes a server hang up took the server from everybody with five
// requests for it.
func TestServerThatHangsUpOnOneTargetStays(t *testing.T) {
	f := func(name string, target func(i int) string, want balance.State) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			o, _ := startCluster(t, Options{Settings: Settings{Ejection: byShare()}}, hangsUpOn("/evil"))
			for i := range 40 {
				_, err := o.RoundTrip(t.Context(), &Request{Method: "POST", Target: target(i), Host: "h"})
				wantKind(t, err, Cut)
			}
			if got := o.Stats(time.Now()).Servers[0].State; got != want {
				t.Errorf("%s: got %v, want %v", name, got, want)
			}
		})
	}
	f("one", func(int) string { return "/evil" }, balance.Up)
	f("one, with queries", func(i int) string { return fmt.Sprintf("/evil?%d", i) }, balance.Up)
	f("many", func(i int) string { return fmt.Sprintf("/evil/%d", i) }, balance.Ejected)
}

// A body that a client is slow with, or never sends, may be too much for a server; what it
// does then says nothing of it.
func TestServerThatHangsUpOnAnUnfinishedUploadStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, _ := startCluster(t, Options{Settings: Settings{Ejection: byShare()}}, hangsUpOn("POST"))
		for i := range 40 {
			body, client := io.Pipe()
			_, err := o.RoundTrip(t.Context(), &Request{
				Method: "POST", Target: fmt.Sprint("/", i), Host: "h", Body: body, ContentLength: 10,
				Interrupt: func() { _ = client.CloseWithError(io.ErrUnexpectedEOF) },
			})
			wantKind(t, err, Cut)
		}
		if got := o.Stats(time.Now()).Servers[0].State; got != balance.Up {
			t.Errorf("got %v, want up", got)
		}
	})
}

// shortage is a dial that failed for a reason of ours.
type shortage struct{ error }

func (shortage) Local() bool { return true }

// Without descriptors or ports no server can be connected to, and each was held to be out.
func TestShortageOfOursIsNoFailureOfTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := prometheus.NewRegistry()
		var dials atomic.Int64
		o, err := New(Options{
			Name:    "app",
			Servers: []Server{{Address: "a:80"}, {Address: "b:80"}},
			Metrics: NewMetrics(registry),
			Dial: func(context.Context, string, string) (net.Conn, error) {
				dials.Add(1)
				return nil, shortage{errors.New("too many open files")}
			},
			Settings: Settings{Ejection: balance.Ejection{Failures: 1, Backoff: time.Minute, MaxBackoff: time.Minute}, Health: Health{Path: "/", Interval: time.Second, Unhealthy: 1}},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer o.Close()
		for range 10 {
			_, err := o.RoundTrip(t.Context(), get("/"))
			wantKind(t, err, Overload)
		}
		time.Sleep(10 * time.Second) // ten checks
		synctest.Wait()              // the checks of the tenth second have ended too
		for _, s := range o.Stats(time.Now()).Servers {
			if s.State != balance.Up {
				t.Errorf("%s: got %v, want up", s.Address, s.State)
			}
		}
		if got := sample(t, registry, "edgeproxy_origin_local_failures_total", "app"); got != float64(dials.Load()) || got < 20 {
			t.Errorf("got %v counted of %d, want all, and another server tried each time", got, dials.Load())
		}
	})
}
