package admin

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"edgeproxy/internal/test/testkit"
)

// listen opens a stream of events. Its reader returns the next one, "" at the end of the stream.
func (g *rig) listen(header ...string) (next func() string, leave func()) {
	g.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	g.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+g.addr+"/events", nil)
	if err != nil {
		g.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := (&http.Client{Transport: g.client.Transport}).Do(r) // without the rig's bound
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { _ = resp.Body.Close() })
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		g.t.Fatalf("got %d %q, want a stream of events", resp.StatusCode, resp.Header.Get("Content-Type"))
	}
	lines := bufio.NewReader(resp.Body)
	return func() string {
		line, err := lines.ReadString('\n')
		if err != nil {
			return ""
		}
		_, _ = lines.ReadString('\n') // the empty line behind it
		return strings.TrimSuffix(strings.TrimPrefix(line, "data: "), "\n")
	}, cancel
}

// drain reads a stream to its end.
func drain(next func() string) {
	for event := next(); event != ""; event = next() {
		continue
	}
}

func counted(o *Options) *atomic.Int64 {
	var n atomic.Int64
	o.Status = func() any { return map[string]int64{"n": n.Add(1)} }
	return &n
}

// The stream is longer than the server's limits of a read and of a whole answer.
func TestEventsAreTheStatusEachSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options()
		n := counted(&o)
		s := mustNew(t, o)
		client := servePipe(s)
		if n.Load() != 0 {
			t.Errorf("got %d calls of Status before anybody listened, want none", n.Load())
		}
		if _, err := io.WriteString(client, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(client), nil)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(resp.Body)
		start := time.Now()
		for i := range 90 {
			line, err := lines.ReadString('\n')
			if want := fmt.Sprintf("data: {\"n\":%d}\n", i+1); err != nil || line != want {
				t.Fatalf("got the event %q, %v, want %q", line, err, want)
			}
			if d := time.Since(start); d != time.Duration(i)*eventEvery {
				t.Fatalf("event %d came after %v, want %v", i, d, time.Duration(i)*eventEvery)
			}
			if line, err := lines.ReadString('\n'); err != nil || line != "\n" {
				t.Fatalf("got %q, %v behind an event, want an empty line", line, err)
			}
		}
		_ = client.Close()
		time.Sleep(2 * eventEvery) // virtual time: until the next event finds nobody
		synctest.Wait()
		if was := n.Load(); was > 92 {
			t.Errorf("got %d calls of Status, want no more behind the end", was)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
}

func TestAReaderOfEventsThatIsTooSlowIsLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options()
		counted(&o)
		s := mustNew(t, o)
		client := servePipe(s)
		if _, err := io.WriteString(client, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(eventWrite + 2*eventEvery) // without reading
		synctest.Wait()
		s.subscribers.mu.Lock()
		n := len(s.subscribers.open)
		s.subscribers.mu.Unlock()
		if n != 0 {
			t.Errorf("got %d listeners, want none", n)
		}
		_ = client.Close()
		if err := s.Close(t.Context()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
}

// Those that had come first kept their places for as long as they liked, and one more got 503: pages of the same site could take all of them, and the
// dashboard had none.
func TestStreamsOfEventsShutTheDashboardOut(t *testing.T) {
	o := options()
	counted(&o)
	g := serve(t, mustNew(t, o))
	for range maxSubscribers {
		if a := g.do("GET", "/events", "", "Sec-Fetch-Site", "same-site"); a.status != http.StatusForbidden {
			t.Fatalf("a page of the same site: got %d, want 403", a.status)
		}
	}
	first, _ := g.listen()
	for range maxSubscribers - 1 {
		if next, _ := g.listen(); next() == "" {
			t.Fatal("got no event")
		}
	}
	dashboard, leave := g.listen("Sec-Fetch-Site", "same-origin")
	if dashboard() == "" {
		t.Error("the dashboard got no event")
	}
	drain(first) // it ends
	open := func() int {
		g.server.subscribers.mu.Lock()
		defer g.server.subscribers.mu.Unlock()
		return len(g.server.subscribers.open)
	}
	if n := open(); n != maxSubscribers {
		t.Errorf("got %d streams, want %d", n, maxSubscribers)
	}
	leave()
	testkit.Eventually(t, "a place is free again", func() bool { return open() == maxSubscribers-1 })
}

func TestTheOldestStreamOfTheClientWithTheMostEnds(t *testing.T) {
	f := func(clients, want string) {
		t.Helper()
		var l subscribers
		var all []*subscriber
		for _, client := range clients {
			all = append(all, l.enter(string(client)))
		}
		ended := ""
		for i, s := range all {
			select {
			case <-s.quit:
				ended += string(rune('A' + i))
			default:
			}
		}
		if ended != want || len(l.open) != min(len(all), maxSubscribers) {
			t.Errorf("%s: got the end of %q and %d that stay, want the end of %q", clients, ended, len(l.open), want)
		}
		for _, s := range all {
			l.leave(s)
			l.leave(s)
		}
		if len(l.open) != 0 {
			t.Errorf("%s: %d are left", clients, len(l.open))
		}
	}
	f("aaaaaaaaaaaaaaaa", "")
	f("aaaaaaaaaaaaaaaaa", "A")
	f("aaaaaaaaaaaaaaaaaaa", "ABC")
	f("baaaaaaaaaaaaaaab", "B")
	f("abbbbbbbbbbbbbbba", "B")
	f("abcdefghijklmnopq", "A")
	f("aaaaaaaabbbbbbbbbb", "IJ")
}

// A stream that nobody leaves does not hold up the end of the program.
func TestEventsEndWithTheServerAndAtAReload(t *testing.T) {
	o := options()
	counted(&o)
	g := serve(t, mustNew(t, o))
	next, _ := g.listen()
	next()
	o.Token = "secret"
	use, err := g.server.Prepare(o)
	if err != nil {
		t.Fatal(err)
	}
	use()
	drain(next)
	if a := g.do("GET", "/events", ""); a.status != http.StatusUnauthorized {
		t.Errorf("without the new token: got %d, want 401", a.status)
	}
	next, _ = g.listen("Authorization", "Bearer secret")
	next()
	if err := g.server.Close(context.Background()); err != nil {
		t.Errorf("Close: got %v, want nil", err)
	}
	drain(next)
}
