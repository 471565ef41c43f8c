package origin

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"edgeproxy/internal/test/testkit"
)

// TestRetiredOriginAnswersRequestsThatHaveIt, and keeps no connection: a request that found it
// before and asks it only now, one that has its answer half, and one that waits.
func TestRetiredOriginAnswersRequestsThatHaveIt(t *testing.T) {
	goOn := make(chan struct{})
	o := start(t, Options{Settings: Settings{MaxConnections: 1, QueueRequests: 1, QueueWait: testkit.Patience}}, func(n int, p *peer) {
		for p.request() != "" {
			p.say("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no")
			if n == 0 {
				<-goOn
			}
			p.say("k")
		}
	})
	res, err := o.RoundTrip(context.Background(), get("/"))
	if err != nil {
		t.Fatal(err)
	}
	waits := make(chan error, 1)
	go func() {
		_, body, err := fetch(o, get("/waits"))
		if err == nil && body != "ok" {
			err = io.ErrUnexpectedEOF
		}
		waits <- err
	}()
	eventually(t, "one waits", func() bool { return o.Stats(time.Now()).Waiting == 1 })
	o.Retire()
	o.Retire()
	if s := o.Stats(time.Now()); s.Quiet() {
		t.Errorf("got %+v, want one at work and one that waits", s)
	}
	close(goOn)
	if body, err := io.ReadAll(res.Body); err != nil || string(body) != "ok" {
		t.Errorf("the answer under way: got %q, %v", body, err)
	}
	if err := <-waits; err != nil {
		t.Errorf("the one that waited: %v", err)
	}
	wantBody(t, o, get("/"), "ok")
	if s := o.Stats(time.Now()); !s.Quiet() {
		t.Errorf("got %+v, want no connection left", s)
	}
}

func TestRetiredOriginChecksNobodysHealth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &checked{status: "200"}
		asked := func() int {
			a.mu.Lock()
			defer a.mu.Unlock()
			return len(a.at)
		}
		o, _ := startCluster(t, Options{Settings: Settings{Health: Health{Path: "/health", Interval: time.Second}}}, a.play)
		time.Sleep(3*time.Second + 500*time.Millisecond) // between two checks
		synctest.Wait()
		o.Retire()
		before := asked()
		time.Sleep(time.Minute)
		if now := asked(); before == 0 || now != before {
			t.Errorf("got %d checks before it was retired and %d after, want none after", before, now-before)
		}
	})
}
