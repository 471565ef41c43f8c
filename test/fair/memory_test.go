//go:build linux

package fair

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// endedForPace counts the clients that were let go because of limits.send_rate.
const endedForPace = `edgeproxy_limit_rejections_total{limit="send_rate"}`

// memoryAttacks take memory, or the pace of others.
func memoryAttacks() []attack {
	return []attack{
		{
			// Each reads 8 MiB of what is stored and soon pushed out by the next.
			name: "100 slow readers of stored bodies, 8 MiB each", soak: true, long: times(0, 14*time.Second),
			edge: settings{sections: "admission: {policy: always}\ncache: {memory: {max_bytes: 64MiB}}\n"},
			play: func(w *wave) {
				readers, perSecond := 100, 15 // else the storing itself is what is measured
				w.rate(perSecond, func(n int) {
					if n >= readers {
						return
					}
					w.all.Go(func() {
						o := thing{path: fmt.Sprintf("/large/%d/%d", w.number, n), cc: "max-age=600", size: 8<<20 - n*20_000}
						_ = w.fetch(n, o)
						for w.ctx.Err() == nil {
							if w.sip(n, o, 1<<10, 250*time.Millisecond) != nil && w.ctx.Err() == nil {
								w.saw("cut")
							}
							w.wait(time.Second)
						}
					})
				})
			},
			check: func(s *scene) { s.note("%d times cut", s.count("cut")) },
		},
		{
			name: "24 slow readers of stored bodies, 2 MiB each", long: times(2500*time.Millisecond, 6*time.Second),
			edge: settings{sections: "admission: {policy: always}\ncache: {memory: {max_bytes: 8MiB, max_object_bytes: 2MiB}}\nlimits: {inflight_bytes: 8MiB}\n"},
			play: func(w *wave) {
				w.rate(20, func(n int) {
					if n >= 24 {
						return
					}
					w.all.Go(func() {
						o := thing{path: fmt.Sprintf("/large/%d/%d", w.number, n), cc: "max-age=600", size: 2<<20 - n*5_000}
						_ = w.fetch(n, o)
						if w.sip(n, o, 1<<10, 250*time.Millisecond) != nil && w.ctx.Err() == nil {
							w.saw("cut")
						}
					})
				})
			},
			meanwhile: func(w *wave) {
				const bound = 2<<20 + 2<<20 // a quarter of max_bytes, and one body that is on the border
				s, most := w.s, 0.0
				for ; w.ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
					m := s.edge.metrics()
					if _, told := m["edgeproxy_cache_pinned_bytes"]; m != nil && !told {
						s.fail("there is no edgeproxy_cache_pinned_bytes")
						return
					}
					most = max(most, m["edgeproxy_cache_pinned_bytes"])
				}
				if !w.real {
					return
				}
				if s.note("%.1f MiB pinned", most/(1<<20)); most > bound {
					s.fail("bytes pinned: got %.1f MiB, want at most %.1f", most/(1<<20), float64(bound)/(1<<20))
				}
			},
			check: func(s *scene) {
				if s.count("cut") == 0 {
					s.fail("no slow reader was cut")
				}
			},
		},
		{
			name: "80 streams of HTTP/2 without a window, of stored 4 MiB each", soak: true, long: times(0, 10*time.Second),
			edge: settings{secure: true, sections: "admission: {policy: always}\ncache: {memory: {max_bytes: 16MiB, max_object_bytes: 4MiB}}\nlimits: {inflight_bytes: 16MiB}\n"},
			play: func(w *wave) {
				for n := range 8 {
					w.all.Go(func() {
						h := &framing{w: w, small: true}
						for i := 0; i < 10 && h.open(n); i++ {
							o := thing{path: fmt.Sprintf("/large/%d/%d/%d", w.number, n, i), cc: "max-age=600", size: 4<<20 - n*50_000}
							_ = w.fetchSecure(n, o)
							h.ask("GET", o.target(), true)
							h.flush()
							w.wait(200 * time.Millisecond)
						}
					})
				}
			},
		},
		{
			name: "20 streams of HTTP/2 that trickle", soak: true, long: times(0, 10*time.Second),
			edge: settings{secure: true, sections: "admission: {policy: always}\n" +
				"limits: {send_rate: {bytes: 4KiB, over: 2s}} # new\n"},
			play: func(w *wave) {
				o := thing{path: "/large", cc: "max-age=600", size: 4 << 20}
				_ = w.fetchSecure(0, o)
				for n := range 20 {
					w.all.Go(func() {
						h := &framing{w: w, small: true}
						if !h.open(n) {
							return
						}
						id := h.ask("GET", o.target(), true)
						for ; w.ctx.Err() == nil && h.alive.Load() && !h.over(id); w.wait(time.Second) {
							h.grant(id, 100)
							h.flush()
						}
					})
				}
			},
			check: func(s *scene) {
				if got := s.edge.metrics()[endedForPace]; got < 20 {
					s.fail("%v streams below send_rate were ended, want all 20", got)
				}
			},
		},
		{
			name: "1,500 uploads that stop behind 60 KiB", soak: true, long: times(0, 8*time.Second),
			edge: settings{sections: "cache: {memory: {max_bytes: 16MiB, max_object_bytes: 1MiB}}\nlimits: {inflight_bytes: 16MiB}\n"},
			play: func(w *wave) {
				w.rate(500, func(n int) {
					if n >= 1500 {
						return
					}
					w.all.Go(func() {
						if c, err := w.connect(n, false); err == nil {
							defer c.Close()
							_, _ = io.WriteString(c, w.head("POST", "/upload", "Content-Length: 1048576\r\n"))
							_, _ = c.Write(make([]byte, 60<<10))
							_, _ = c.Read(make([]byte, 1))
						}
					})
				})
			},
		},
		{
			name: "20 readers that trickle, and one at modem speed", soak: true, long: times(0, 12*time.Second),
			edge: settings{sections: "admission: {policy: always}\n" +
				"limits: {send_rate: {bytes: 4KiB, over: 2s}} # new\n"},
			play: func(w *wave) {
				o := thing{path: "/large", cc: "max-age=600", size: 4 << 20}
				_ = w.fetch(0, o)
				for n := range 20 {
					w.all.Go(func() {
						_ = w.sip(n, o, 100, time.Second)
					})
				}
				w.all.Go(func() {
					if _ = w.sip(30, o, 800, 100*time.Millisecond); w.ctx.Err() == nil {
						w.saw("modem ended")
					}
				})
			},
			check: func(s *scene) {
				if got := s.edge.metrics()[endedForPace]; got < 20 { // they see it only behind what their system has
					s.fail("%v readers below send_rate were ended, want all 20", got)
				}
				if s.count("modem ended") != 0 {
					s.fail("a reader at modem speed was ended")
				}
			},
		},
		{
			name: "nine first sightings of 8 MiB read at 9.5 KB/s", long: times(2500*time.Millisecond, 8*time.Second),
			play: func(w *wave) {
				w.each(9, time.Second, func(n int) {
					o := thing{path: fmt.Sprintf("/first/%d/%d", n, time.Now().UnixNano()), cc: "max-age=600", size: 8 << 20}
					_ = w.sip(n, o, 950, 100*time.Millisecond)
				})
			},
			meanwhile: wantStored(63, 64<<10),
		},
		{
			// The origin is slow with the end of them.
			name: "nine fills of 8 MiB that go on and on, of one address", long: times(2500*time.Millisecond, 8*time.Second),
			edge: settings{sections: "admission: {policy: always}\n"},
			play: func(w *wave) {
				w.each(9, 100*time.Millisecond, func(n int) {
					o := thing{path: fmt.Sprintf("/drip/%d/%d", n, time.Now().UnixNano()), cc: "max-age=600", size: 8 << 20, drip: pick(10<<10, 4<<10)}
					_ = w.fetch(0, o)
				})
			},
			meanwhile: wantStored(10, 3<<20),
		},
		{
			name: "one slow reader of a body that three others share", long: times(2500*time.Millisecond, 6*time.Second),
			toEnd: true,
			play:  sharing(thing{path: "/shared", cc: "max-age=600", size: 20 << 20, delay: 400 * time.Millisecond}),
			check: wantShared,
		},
		{
			name: "the same, of unknown length", long: times(2500*time.Millisecond, 6*time.Second),
			toEnd: true,
			play:  sharing(thing{path: "/shared", cc: "max-age=600", size: 20 << 20, delay: 400 * time.Millisecond, chunked: true}),
			check: wantShared,
		},
	}
}

// wantStored has the honest client ask three times for so many things, with the attack
// under way: by the second time each is stored, so that the third is a hit.
func wantStored(number, size int) func(*wave) {
	return func(w *wave) {
		w.wait(w.s.long() / 4)
		stored, why := 0, map[string]int{}
		for n := range number {
			o := thing{path: fmt.Sprintf("/fill/%d/%d", w.number, n), cc: "max-age=600", size: size}
			_ = w.s.honest.get(w.s.honest.keeps, o, "")
			second := w.s.honest.get(w.s.honest.keeps, o, "")
			if w.s.honest.get(w.s.honest.keeps, o, "").hit {
				stored++
			} else {
				why[second.status+second.fault]++
			}
		}
		if !w.real {
			return
		}
		if w.s.note("%d of %d stored", stored, number); stored != number {
			w.s.fail("%d of %d admitted fills were stored, want all; the others: %v", stored, number, why)
		}
	}
}

// sharing has one reader with a small window ask for a thing, and three others that take
// all of it.
func sharing(o thing) func(*wave) {
	return func(w *wave) {
		o := o
		o.path += fmt.Sprint("/", w.number)
		w.all.Go(func() {
			_ = w.sip(0, o, 1<<10, 250*time.Millisecond)
			w.saw("slow ended")
		})
		w.wait(100 * time.Millisecond)
		var fast sync.WaitGroup
		for n := range 3 {
			fast.Go(func() {
				if err := w.fetch(n+1, o); err == nil {
					w.saw("whole")
				} else if w.ctx.Err() == nil {
					w.saw("not whole: " + err.Error())
				}
			})
		}
		fast.Wait()
	}
}

func wantShared(s *scene) {
	if s.note("%d of 3 whole", s.count("whole")); s.count("whole") != 3 {
		s.fail("%d of 3 readers at full speed got the whole: %v", s.count("whole"), s.seen)
	}
}

// keptAlive asks once on a connection and returns it.
func (w *wave) keptAlive(n int, target string) (io.Closer, *bufio.Reader, error) {
	c, err := w.connect(n, false)
	if err != nil {
		return nil, nil, err
	}
	if _, err := io.WriteString(c, w.head("GET", target, "")); err != nil {
		return nil, nil, err
	}
	in := bufio.NewReader(c)
	res, err := http.ReadResponse(in, nil)
	if err != nil {
		c.Close()
		return nil, nil, err
	}
	_, err = io.Copy(io.Discard, res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d", res.StatusCode)
	}
	if err != nil {
		c.Close()
	}
	return c, in, err
}
