//go:build linux

package fair

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The honest client asks at a steady pace, whatever becomes of what it has asked before.
const (
	mostAtOnce     = 400             // requests of either kind; what would be more counts as not answered
	honestPatience = 5 * time.Second // beyond which an answer is none
	small          = 1 << 10         // bytes of what it asks for
)

// honest is the client that does no harm.
type honest struct {
	t      testing.TB
	edge   *edge
	keeps  *http.Client // keeps its connections
	brings *http.Client // has a new connection for each request
	next   atomic.Int64 // number of the next thing that nobody has asked for
}

func newHonest(t testing.TB, e *edge) *honest {
	t.Helper()
	client := func(keeps bool) *http.Client {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}}
		tr := &http.Transport{
			DialContext: d.DialContext, TLSClientConfig: e.pool, DisableCompression: true,
			DisableKeepAlives: !keeps, MaxIdleConnsPerHost: 64, ForceAttemptHTTP2: false,
		}
		t.Cleanup(tr.CloseIdleConnections)
		return &http.Client{Transport: tr, Timeout: honestPatience}
	}
	return &honest{t: t, edge: e, keeps: client(true), brings: client(false)}
}

// hot is what the honest client's hits are.
var hot = thing{path: "/hot", size: small, cc: "max-age=3600"}

// warm asks until hot is stored.
func (h *honest) warm() {
	h.t.Helper()
	for range 20 {
		if got := h.get(h.keeps, hot, ""); got.hit {
			return
		}
	}
	h.t.Fatal("the honest client gets no hit")
}

func (h *honest) leave() {
	h.keeps.CloseIdleConnections()
	h.brings.CloseIdleConnections()
}

// answer is what came of a request.
type answer struct {
	took   time.Duration
	ok     bool // a whole body
	hit    bool
	status string // what Cache-Status says
	fault  string // why it is not ok
}

// get asks for something, with one field more if there is one: "Name: value".
func (h *honest) get(c *http.Client, o thing, field string) (a answer) {
	begin := time.Now()
	defer func() { a.took = time.Since(begin) }()
	req, err := http.NewRequest(http.MethodGet, h.edge.scheme+"://"+h.edge.host+o.target(), http.NoBody)
	if err != nil {
		return answer{fault: err.Error()}
	}
	if name, value, found := bytes.Cut([]byte(field), []byte(": ")); found {
		req.Header.Set(string(name), string(value))
	}
	res, err := c.Do(req)
	if err != nil {
		return answer{fault: "no answer"}
	}
	defer res.Body.Close()
	a.status = res.Header.Get("Cache-Status")
	a.hit = bytes.Contains([]byte(a.status), []byte("; hit"))
	want := content(o.size)
	body, err := io.ReadAll(res.Body)
	switch {
	case res.StatusCode != http.StatusOK:
		a.fault = fmt.Sprint(res.StatusCode, " ", a.status)
	case err != nil || !bytes.Equal(body, want):
		a.fault = "not whole"
	default:
		a.ok = true
	}
	return a
}

// fresh is something that nobody has asked for.
func (h *honest) fresh() thing {
	return thing{path: fmt.Sprintf("/honest/%d", h.next.Add(1)), size: small, cc: "max-age=3600"}
}

// sample is how the honest client was served.
type sample struct {
	hits, misses     []time.Duration // times of requests that were answered, in order once load is done
	noHits, noMisses int             // not answered
	failures         map[string]int
}

// load asks for hits and misses for so long and returns how it was served.
func (h *honest) load(ctx context.Context, long time.Duration) sample {
	s := sample{failures: map[string]int{}}
	var mu sync.Mutex
	ctx, stop := context.WithTimeout(ctx, long)
	defer stop()
	var all sync.WaitGroup
	run := func(perSecond int, ask func() answer, took *[]time.Duration, not *int) {
		places := make(chan struct{}, mostAtOnce)
		tick := time.NewTicker(time.Second / time.Duration(perSecond))
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			select {
			case places <- struct{}{}:
			default:
				mu.Lock()
				*not++
				s.failures["too many wait"]++
				mu.Unlock()
				continue
			}
			all.Go(func() {
				defer func() { <-places }()
				a := ask()
				mu.Lock()
				defer mu.Unlock()
				if a.ok {
					*took = append(*took, a.took)
				} else {
					*not++
					s.failures[a.fault]++
				}
			})
		}
	}
	all.Go(func() {
		run(hitsPerSecond, func() answer {
			a := h.get(h.keeps, hot, "")
			if a.ok && !a.hit {
				a.ok, a.fault = false, "no hit: "+a.status
			}
			return a
		}, &s.hits, &s.noHits)
	})
	all.Go(func() {
		run(missesPerSecond, func() answer { return h.get(h.brings, h.fresh(), "") }, &s.misses, &s.noMisses)
	})
	all.Wait()
	slices.Sort(s.hits)
	slices.Sort(s.misses)
	return s
}

func share(yes []time.Duration, no int) float64 {
	if len(yes)+no == 0 {
		return 0
	}
	return float64(len(yes)) / float64(len(yes)+no)
}

func p99(took []time.Duration) time.Duration {
	if len(took) == 0 {
		return 0
	}
	return took[len(took)*99/100]
}

// served reports whether the honest client got what it is to get under any attack.
func (s sample) served() bool { return s.answered() >= 0.9 && s.hitsAnswered() >= 0.99 }

func (s sample) answered() float64       { return share(s.misses, s.noMisses) }
func (s sample) hitsAnswered() float64   { return share(s.hits, s.noHits) }
func (s sample) hits99() time.Duration   { return p99(s.hits) }
func (s sample) misses99() time.Duration { return p99(s.misses) }
