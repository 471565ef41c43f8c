package proxy_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"edgeproxy/internal/test/edgetest"
	"edgeproxy/internal/test/testkit"
)

// varyingOrigin answers /page by lists of names that depend on the request: it names a field only if the request makes it of use, as many
// origins do. It counts what it was asked.
func varyingOrigin(t testing.TB, vary func(r *http.Request) string) (address string, asked *atomic.Int64) {
	t.Helper()
	asked = new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.Header().Set("Cache-Control", "max-age=600")
		names := vary(r)
		if names != "" {
			w.Header().Set("Vary", names)
		}
		var values []string
		for name := range strings.SplitSeq(names, ", ") {
			values = append(values, r.Header.Get(name))
		}
		fmt.Fprint(w, strings.Join(values, "/"))
	}))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String(), asked
}

// varyShape is a URL of which not all responses vary by the same names.
type varyShape struct {
	vary     func(r *http.Request) string
	requests []string // the fields of requests, of which each has a response of its own
	others   []string // the fields of requests whose responses vary by other names
	want     []string // the bodies that requests get
}

func varyShapes() map[string]varyShape {
	prefix := varyShape{vary: func(r *http.Request) string {
		if r.Header.Get("Origin") != "" {
			return "Accept-Language, Origin"
		}
		return "Accept-Language"
	}, others: []string{"Accept-Language: xx\r\nOrigin: http://x\r\n"}}
	for i := range 10 {
		prefix.requests = append(prefix.requests, fmt.Sprintf("Accept-Language: l-%d\r\n", i))
		prefix.want = append(prefix.want, fmt.Sprintf("l-%d", i))
	}
	none := prefix
	none.vary = func(r *http.Request) string {
		if r.Header.Get("Accept-Language") == "xx" {
			return ""
		}
		return "Accept-Language"
	}
	crossing := varyShape{vary: func(r *http.Request) string {
		if r.Header.Get("Accept") == "json" {
			return "Accept, Origin"
		}
		return "Accept, Accept-Language"
	}}
	alternating := varyShape{vary: func(r *http.Request) string { return "X-Mode, X-" + r.Header.Get("X-Mode") }}
	for i := range 10 {
		crossing.requests = append(crossing.requests, fmt.Sprintf("Accept: html\r\nAccept-Language: l-%d\r\n", i), fmt.Sprintf("Accept: json\r\nOrigin: o-%d\r\n", i))
		crossing.want = append(crossing.want, fmt.Sprintf("html/l-%d", i), fmt.Sprintf("json/o-%d", i))
	}
	for i := range 50 {
		alternating.requests = append(alternating.requests, fmt.Sprintf("X-Mode: %c\r\nX-%c: v-%d\r\n", 'a'+i%5, 'A'+i%5, i))
		alternating.want = append(alternating.want, fmt.Sprintf("%c/v-%d", 'a'+i%5, i))
	}
	return map[string]varyShape{"a prefix": prefix, "crossing": crossing, "alternating": alternating, "none": none}
}

// placesOfVariants are where what is requested twice is stored.
func placesOfVariants() map[string]string {
	return map[string]string{
		"in memory": held, "beside a stage": "",
		"on the disk": `cache: {memory: {stage_bytes: 0B}, disk: {path: "{dir}/disk", max_bytes: 64MiB, min_free: 0%}}` + "\n",
	}
}

// TestVaryListsOfOneURLThrewEachOtherOut: one response that varied by other names than those stored threw all of them out: 10 of 10 languages
// went when one client sent Origin, and 20 of 20 requests reached the origin when two clients asked for two forms in turn. Nothing said so.
func TestVaryListsOfOneURLThrewEachOtherOut(t *testing.T) {
	for name, shape := range varyShapes() {
		for where, yaml := range placesOfVariants() {
			t.Run(name+", "+where, func(t *testing.T) {
				yaml += "limits: {variants: 64}\n"
				address, asked := varyingOrigin(t, shape.vary)
				dir, o := t.TempDir(), edgetest.Options{Origin: address}
				t.Run("stored", func(t *testing.T) {
					e := startIn(t, dir, yaml, o)
					for _, fields := range slices.Concat(shape.requests, shape.requests, shape.others, shape.others) {
						askWith(t, e, fields)
					}
					wantNoneLost(t, e, shape, asked)
					if st := e.Store.Stats(); st.Variants+st.Replaced+st.Disk.Variants != 0 {
						t.Errorf("got %d evicted and %d replaced", st.Variants+st.Disk.Variants, st.Replaced)
					}
				})
				if where == "on the disk" {
					t.Run("after a restart", func(t *testing.T) {
						e := startIn(t, dir, yaml, o)
						if !comesTrue(func() bool { return e.Disk().Stats().Unfilled == 0 }) {
							t.Fatal("the disk does not come to know what it has")
						}
						wantNoneLost(t, e, shape, asked)
					})
				}
			})
		}
	}
}

// wantNoneLost has two clients ask for all of shape, in turn and at the same time. None of the requests may reach the origin.
func wantNoneLost(t *testing.T, e *edgetest.Edge, shape varyShape, asked *atomic.Int64) {
	t.Helper()
	before := asked.Load()
	var clients sync.WaitGroup
	for range 2 {
		clients.Go(func() {
			c := dial(t, e.Address)
			for range 2 {
				for i, fields := range shape.requests {
					if a := c.ask("GET /page HTTP/1.1\r\nHost: edge.test\r\n" + fields + "\r\n"); a.err != nil || a.body != shape.want[i] || !strings.Contains(a.cache, "; hit") {
						t.Errorf("%q: got %q, %q, %v, want a hit of %q", fields, a.body, a.cache, a.err, shape.want[i])
					}
				}
			}
		})
	}
	clients.Wait()
	if lost := asked.Load() - before; lost != 0 {
		t.Errorf("%d of %d requests reached the origin, want none", lost, 4*len(shape.requests))
	}
}

// TestEverOtherVaryListsCostOthersNothing: a client that can have the origin vary by what the client says gets no more lists than a URL may
// have, and others keep what they ask for.
func TestEverOtherVaryListsCostOthersNothing(t *testing.T) {
	for where, yaml := range placesOfVariants() {
		t.Run(where, func(t *testing.T) {
			address, asked := varyingOrigin(t, func(r *http.Request) string {
				if made := r.Header.Get("X-Vary"); made != "" {
					return "Accept-Language, " + made
				}
				return "Accept-Language"
			})
			e := start(t, yaml, edgetest.Options{Origin: address})
			honest := varyShape{}
			for i := range 10 {
				honest.requests = append(honest.requests, fmt.Sprintf("Accept-Language: l-%d\r\n", i))
				honest.want = append(honest.want, fmt.Sprintf("l-%d", i))
				askWith(t, e, honest.requests[i])
				askWith(t, e, honest.requests[i])
			}
			refused := 0
			for i := range 100 {
				for range 2 {
					a := askWith(t, e, fmt.Sprintf("Accept-Language: xx\r\nX-Vary: X-Made-%d\r\nX-Made-%d: y\r\n", i, i))
					if strings.Contains(a.cache, "detail=vary-limit") {
						refused++
					}
				}
			}
			wantNoneLost(t, e, honest, asked)
			if refused < 180 {
				t.Errorf("got %d of 200 refused by vary-limit, want most", refused)
			}
			if st := e.Store.Stats(); st.Variants+st.Disk.Variants != 0 {
				t.Errorf("got %d evicted, want none", st.Variants+st.Disk.Variants)
			}
		})
	}
}

// A hit allocates nothing, also where two lists select a response.
func TestHitByTwoVaryListsAllocatesNothing(t *testing.T) {
	testkit.Plain(t, "counts allocations, and the race detector allocates by itself")
	address, _ := varyingOrigin(t, func(r *http.Request) string {
		if r.Header.Get("Origin") != "" {
			return "Accept-Language, Origin"
		}
		return "Accept-Language"
	})
	e := start(t, always, edgetest.Options{Origin: address})
	request := func(fields string) []byte {
		return []byte("GET /page HTTP/1.1\r\nHost: edge.test\r\n" + fields + "\r\n")
	}
	askWith(t, e, "Accept-Language: de\r\nOrigin: http://x\r\n")
	askWith(t, e, "Accept-Language: de\r\n")
	const most = hitAllocs + 2*1.5/samples // there is a look-up for each list
	c := newHitClient(t, e.Address, request("Accept-Language: de\r\n"))
	if got := allocsPerHit(t, c); got > most {
		t.Errorf("the first list: got %.4f allocations a hit, want at most %.4f", got, most)
	}
	c = newHitClient(t, e.Address, request("Accept-Language: de\r\nOrigin: http://x\r\n"))
	if got := allocsPerHit(t, c); got > most {
		t.Errorf("both lists: got %.4f allocations a hit, want at most %.4f", got, most)
	}
}
