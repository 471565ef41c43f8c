package origin

import (
	"context"
	"io"
	"testing"
)

func TestABodyThatIsHereIsTakenAtOnce(t *testing.T) {
	o := start(t, Options{}, each(lengthHead+"hello world"))
	f := func(name string, length int, want bool, idle int) {
		t.Helper()
		res, err := o.RoundTrip(context.Background(), get("/"))
		if err != nil || !res.Here {
			t.Fatalf("%s: got here %v and error %v, want true and none", name, err == nil && res.Here, err)
		}
		p := make([]byte, length)
		if got := res.Body.TakeHere(p); got != want || want && string(p) != "hello world" {
			t.Errorf("%s: got %v and %q, want %v", name, got, p, want)
		}
		if res.Body.TakeHere(p) {
			t.Errorf("%s: it was taken twice", name)
		}
		if n, err := res.Body.Read(p); n != 0 || err == nil {
			t.Errorf("%s: got %d bytes and error %v behind it, want none and one", name, n, err)
		}
		if n := idleCount(o); n != idle {
			t.Errorf("%s: got %d idle connections, want %d", name, n, idle)
		}
	}
	f("all of it", len("hello world"), true, 1)
	f("on the same connection", len("hello world"), true, 1)
	f("less than it is", 5, false, 0)
	f("more than it is", 12, false, 0)
}

// A response whose memory was given back must leave nothing behind in the next one.
func TestMemoryOfAResponseIsUsedAgainWithoutWhatItHeld(t *testing.T) {
	heads := []string{
		"HTTP/1.1 200 OK\r\nX-One: 1\r\nX-Two: 2\r\nContent-Length: 5\r\n\r\nfirst",
		"HTTP/1.1 404 Not Found\r\nContent-Length: 6\r\n\r\nsecond",
	}
	o := start(t, Options{}, func(_ int, p *peer) {
		for n := 0; p.request() != ""; n++ {
			p.say(heads[n%len(heads)])
		}
	})
	for range 50 {
		for i, want := range []struct {
			status, fields int
			body           string
		}{{200, 3, "first"}, {404, 1, "second"}} {
			res, err := o.RoundTrip(context.Background(), get("/"))
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(res.Body)
			if err != nil || res.Status != want.status || len(res.Header) != want.fields || string(body) != want.body {
				t.Fatalf("response %d: got %d, %v, %q and error %v, want %v", i, res.Status, res.Header, body, err, want)
			}
			res.Recycle()
		}
	}
}
