//go:build linux

package fair

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/net/http2"
)

// sixteen is the origin of those attacks that take its connections.
const sixteen = ", max_connections: 16"

// placeAttacks take connections to the origin.
func placeAttacks() []attack {
	return []attack{
		{
			name: "48 uploads of a byte every two seconds, 16 connections", long: times(2500*time.Millisecond, 8*time.Second),
			edge: settings{origin: sixteen},
			play: func(w *wave) { w.each(48, 100*time.Millisecond, func(n int) { w.upload(n, 0) }) },
		},
		{
			name: "48 uploads that stop behind 100 KiB, of four addresses", soak: true, long: times(0, 10*time.Second),
			edge: settings{origin: sixteen, sections: "limits: {receive_rate: {bytes: 4KiB, over: 2s}} # new\n"},
			play: func(w *wave) { w.each(48, 100*time.Millisecond, func(n int) { w.upload(n%4, 100<<10) }) },
		},
		{
			name: "20 slow readers of unstorable 768 KiB, 16 connections", long: times(2500*time.Millisecond, 8*time.Second),
			edge: settings{origin: sixteen},
			play: func(w *wave) { slowDownloads(w, 20, 768<<10) },
		},
		{
			name: "20 slow readers of unstorable 4 MiB, with a spool", soak: true, long: times(0, 8*time.Second),
			edge: settings{origin: sixteen, sections: "limits: {spool_path: \"DIR\"} # new\n"},
			play: func(w *wave) { slowDownloads(w, 20, 4<<20) },
		},
		{
			name: "20 slow readers of unstorable 4 MiB, of four addresses", soak: true, long: times(0, 8*time.Second),
			edge: settings{origin: sixteen},
			play: func(w *wave) {
				w.each(20, 500*time.Millisecond, func(n int) {
					o := thing{path: fmt.Sprintf("/plain/%d", n), cc: "no-store", size: 4 << 20}
					_ = w.sip(n%4, o, 1<<10, 250*time.Millisecond)
				})
			},
		},
		{
			name: "20 streams of HTTP/2 without a window, of unstorable 768 KiB", soak: true, long: times(0, 8*time.Second),
			edge: settings{secure: true, origin: sixteen},
			play: func(w *wave) {
				w.each(20, 500*time.Millisecond, func(n int) {
					h := &framing{w: w, small: true}
					if h.open(n) {
						h.ask("GET", thing{path: fmt.Sprintf("/plain/%d", n), cc: "no-store", size: 768 << 10}.target(), true)
						h.flush()
						<-h.ended
					}
				})
			},
		},
		{
			name: "60 clients that ask and reset, 16 connections", long: times(2500*time.Millisecond, 8*time.Second),
			edge: settings{origin: sixteen},
			play: func(w *wave) {
				w.each(60, 2*time.Second, func(n int) {
					c, err := w.connect(n, false)
					if err != nil {
						return
					}
					defer reset(c)
					o := thing{path: fmt.Sprintf("/late/%d/%d", n, time.Now().UnixNano()), cc: "max-age=60", size: small, delay: 10 * time.Second}
					_, _ = io.WriteString(c, w.head("GET", o.target(), ""))
					w.wait(50 * time.Millisecond)
				})
			},
		},
		{
			name: "3,000 rapid resets of HTTP/2", long: times(2500*time.Millisecond, 8*time.Second),
			edge: settings{secure: true},
			play: func(w *wave) {
				h := &framing{w: w}
				w.rate(1000, func(n int) {
					if n >= 3000 || !h.open(0) {
						return
					}
					o := thing{path: fmt.Sprintf("/late/%d/%d", w.number, n), cc: "max-age=60", size: small, delay: 10 * time.Second}
					id := h.ask("GET", o.target(), true)
					_ = h.fr.WriteRSTStream(id, http2.ErrCodeCancel)
					h.flush()
				})
			},
		},
		{
			name: "4 connections of HTTP/2 with 128 unfinished uploads each", long: times(2500*time.Millisecond, 8*time.Second),
			edge: settings{secure: true},
			play: func(w *wave) {
				w.each(4, 500*time.Millisecond, func(n int) {
					h := &framing{w: w}
					if !h.open(n) {
						return
					}
					for i := range 128 {
						o := thing{path: fmt.Sprintf("/upload/%d/%d", n, i), cc: "no-store", size: small}
						id := h.ask("POST", o.target(), false)
						_ = h.fr.WriteData(id, false, []byte("a few bytes"))
					}
					h.flush()
					<-h.ended
				})
			},
		},
		{
			name: "4 connections of HTTP/2 with 128 requests each that take long", long: times(2500*time.Millisecond, 8*time.Second),
			edge: settings{secure: true},
			play: func(w *wave) {
				w.each(4, 500*time.Millisecond, func(n int) {
					h := &framing{w: w}
					if !h.open(0) { // all from one address
						return
					}
					for i := range 128 {
						o := thing{path: fmt.Sprintf("/late/%d/%d/%d", w.number, n, i), cc: "no-store", size: small, delay: 10 * time.Second}
						h.ask("GET", o.target(), true)
					}
					h.flush()
					<-h.ended
				})
			},
		},
		{
			name: "1,000 requests a second of one address, a rate of 50", long: times(2500*time.Millisecond, 6*time.Second),
			edge: settings{sections: "routes:\n" +
				"  - {name: limited, match: {path_prefix: /limited}, origin: app, limits: {rate: {requests: 50, per: 1s, burst: 50}}} # new\n" +
				"  - {name: default, origin: app}\n"},
			prepare:   func(s *scene) { wantHit(s, limited, "") },
			play:      func(w *wave) { flood(w, limited, 1000) },
			meanwhile: staysStored(limited, "", 100*time.Millisecond), // from another address
			check: func(s *scene) {
				limit := 50 + int(50*(s.lasted.Seconds()+0.5))
				if s.note("%d answered, %d refused", s.count("200"), s.count("429")); s.count("200") > limit || s.count("429") == 0 {
					s.fail("got %v of 1,000 requests a second, want at most %d answers and the rest 429", s.seen, limit)
				}
				if n := s.count("429 without Retry-After"); n > 0 {
					s.fail("%d refusals say nothing of when to come back", n)
				}
			},
		},
		{
			name: "five requests at once that the server hangs up on", long: times(2500*time.Millisecond, 6*time.Second),
			edge: settings{origin: ", ejection: {all_ejected: refuse}"},
			play: func(w *wave) {
				w.each(5, time.Second, func(n int) {
					if c, err := w.connect(n, false); err == nil {
						defer c.Close()
						_, _ = io.WriteString(c, w.head("GET", fmt.Sprintf("/poison?hang=1&n=%d", n), ""))
						_ = c.SetReadDeadline(time.Now().Add(time.Second))
						_, _ = io.Copy(io.Discard, io.LimitReader(c, 1))
					}
				})
			},
		},
		{
			name: "30 clients of one URL whose head comes late", long: times(2800*time.Millisecond, 10*time.Second),
			edge:  settings{sections: "admission: {policy: always}\n" + pick("cache: {collapse: {wait: 500ms}}\n", "")},
			toEnd: true,
			play: func(w *wave) {
				o := thing{path: fmt.Sprint("/herd/", w.number), cc: "max-age=60", size: small, delay: pick(1200*time.Millisecond, 7*time.Second)}
				var all sync.WaitGroup
				for n := range 30 {
					all.Go(func() {
						if w.fetch(n, o) == nil {
							w.saw("answered")
						}
					})
				}
				all.Wait()
			},
			check: func(s *scene) {
				asked := s.origin.times(fmt.Sprint("/herd/", s.waves))
				if s.note("%d requests of 30 went on", asked); asked > 4 {
					s.fail("30 clients of one URL made %d requests to the origin, want at most 4", asked)
				}
				if s.count("answered") != 30 {
					s.fail("%d of 30 were answered", s.count("answered"))
				}
			},
		},
	}
}

// upload sends the head of a request and so much of its body, and then a byte every two
// seconds.
func (w *wave) upload(n, fast int) {
	c, err := w.connect(n, false)
	if err != nil {
		return
	}
	defer c.Close()
	target := thing{path: fmt.Sprintf("/upload/%d", n), cc: "no-store", size: small}.target()
	_, _ = io.WriteString(c, w.head("POST", target, "Content-Length: 1048576\r\n"))
	if _, err := c.Write(make([]byte, fast)); err != nil {
		return
	}
	for begin := time.Now(); w.ctx.Err() == nil; {
		if _, err := c.Write([]byte{'a'}); err != nil {
			break
		}
		_ = c.SetReadDeadline(time.Now().Add(2 * time.Second))
		if _, err := c.Read(make([]byte, 1)); !isTimeout(err) { // answered or ended
			if time.Since(begin) > time.Second {
				w.saw("ended")
			}
			break
		}
	}
}

func isTimeout(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout()
}

func slowDownloads(w *wave, n, size int) {
	w.each(n, 500*time.Millisecond, func(n int) {
		o := thing{path: fmt.Sprintf("/plain/%d", n), cc: "no-store", size: size}
		_ = w.sip(n, o, 1<<10, 250*time.Millisecond)
	})
}

// limited is on a route that limits how often one client may ask.
var limited = thing{path: "/limited", cc: "max-age=3600", size: small}

// flood asks for what is stored, so many times a second, from one address.
func flood(w *wave, o thing, perSecond int) {
	const connections = 8
	for range connections {
		w.all.Go(func() {
			var c net.Conn
			var in *bufio.Reader
			w.rate(perSecond/connections, func(int) {
				if c == nil {
					fresh, err := w.connect(0, false)
					if err != nil {
						return
					}
					c, in = fresh, bufio.NewReader(fresh)
				}
				_, _ = io.WriteString(c, w.head("GET", o.target(), ""))
				res, err := http.ReadResponse(in, nil)
				if err != nil {
					c.Close()
					c = nil
					return
				}
				_, _ = io.Copy(io.Discard, res.Body)
				w.saw(fmt.Sprint(res.StatusCode))
				if res.StatusCode == http.StatusTooManyRequests && res.Header.Get("Retry-After") == "" {
					w.saw("429 without Retry-After")
				}
				if res.Close {
					c.Close()
					c = nil
				}
			})
		})
	}
}
