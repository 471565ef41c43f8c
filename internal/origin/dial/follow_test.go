package dial

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// zone is what a resolver knows.
type zone struct {
	mu    sync.Mutex
	hosts map[string]string // addresses, by spaces
	srv   map[string][]net.SRV
	ttl   time.Duration
	err   error
	asked int
}

func (z *zone) set(change func()) {
	z.mu.Lock()
	defer z.mu.Unlock()
	change()
}

func (z *zone) count() int {
	z.mu.Lock()
	defer z.mu.Unlock()
	return z.asked
}

func (z *zone) lookup(_ context.Context, host string) ([]netip.Addr, time.Duration, error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.asked++
	if z.err != nil {
		return nil, 0, z.err
	}
	return addresses(z.hosts[host]), z.ttl, nil
}

func (z *zone) lookupSRV(_ context.Context, name string) (out []*net.SRV, ttl time.Duration, err error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.asked++
	for _, r := range z.srv[name] {
		out = append(out, &r)
	}
	return out, z.ttl, z.err
}

// following is a Follow, and what it has told since the last look.
type following struct {
	mu   sync.Mutex
	told []string
	stop func()
}

func (f *following) note(endpoints []Endpoint, failure error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []string
	for _, e := range endpoints {
		text := e.Dial()
		if e.Tier > 0 || e.Weight > 1 {
			text += fmt.Sprintf("/%d/%d", e.Tier, e.Weight)
		}
		out = append(out, text)
	}
	if failure != nil {
		out = append(out, "failed")
	}
	f.told = append(f.told, strings.Join(out, " "))
}

// want compares what was told after a time.
func (f *following) want(t *testing.T, after time.Duration, want ...string) {
	t.Helper()
	time.Sleep(after)
	synctest.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	if got := strings.Join(f.told, "; "); got != strings.Join(want, "; ") {
		t.Errorf("got %q, want %q", got, want)
	}
	f.told = nil
}

func startFollow(t *testing.T, d *Dialer, q Query) *following {
	t.Helper()
	f := &following{}
	f.stop = d.Follow(q, f.note)
	return f
}

func (z *zone) dialer(t *testing.T) *Dialer {
	t.Helper()
	d := New(Options{Lookup: z.lookup, LookupSRV: z.lookupSRV, Routed: func(a netip.Addr) bool { return a.Is4() }})
	t.Cleanup(d.Close)
	return d
}

func TestEachAddressOfANameIsFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := &zone{hosts: map[string]string{"app.test": "10.0.0.2 ::ffff:10.0.0.1"}, ttl: 5 * time.Second}
		d := z.dialer(t)
		f := startFollow(t, d, Query{Name: "app.test", Port: 80, Each: true})
		f.want(t, 0, "10.0.0.1:80 10.0.0.2:80")
		z.set(func() { z.hosts["app.test"] = "10.0.0.2 10.0.0.3" })
		f.want(t, 4*time.Second)
		f.want(t, time.Second, "10.0.0.1:80 10.0.0.2:80 10.0.0.3:80") // with the end of the TTL
		f.want(t, 10*time.Second, "10.0.0.2:80 10.0.0.3:80")          // the third answer without it
		z.set(func() { z.err = errors.New("resolver down") })
		f.want(t, time.Hour, "10.0.0.2:80 10.0.0.3:80 failed")
		z.set(func() { z.err, z.hosts["app.test"] = nil, "" })
		f.want(t, time.Hour) // no address is no answer
		z.set(func() { z.hosts["app.test"] = "10.0.0.3 10.0.0.2" })
		f.want(t, 5*time.Second, "10.0.0.2:80 10.0.0.3:80")

		z.set(func() { z.err = errors.New("resolver down") })
		again := startFollow(t, d, Query{Name: "app.test", Port: 80, Each: true}) // a reload does the same
		again.want(t, 0, "10.0.0.2:80 10.0.0.3:80", "10.0.0.2:80 10.0.0.3:80 failed")
		f.stop()
		again.stop()
		asked := z.count()
		time.Sleep(time.Hour)
		if n := z.count() - asked; n != 0 {
			t.Errorf("got %d lookups behind stop", n)
		}
	})
}

// The time between lookups is the lifetime of the answer, within bounds.
func TestLookupsFollowTheLifetimeOfAnswers(t *testing.T) {
	f := func(ttl time.Duration, want int) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			z := &zone{hosts: map[string]string{"app.test": "10.0.0.1"}, ttl: ttl}
			d := z.dialer(t)
			defer startFollow(t, d, Query{Name: "app.test", Port: 80, Each: true}).stop()
			time.Sleep(time.Minute - time.Millisecond)
			if n := z.count(); n != want {
				t.Errorf("a lifetime of %v: got %d lookups in a minute, want %d", ttl, n, want)
			}
		})
	}
	f(0, 6)
	f(time.Millisecond, 60)
	f(2*time.Second, 30)
	f(time.Hour, 6)
}

// A proxy that starts before its resolver does not wait for ten seconds.
func TestAFirstLookupThatFailsIsRepeatedSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := &zone{hosts: map[string]string{"app.test": "10.0.0.1"}, err: errors.New("resolver down")}
		f := startFollow(t, z.dialer(t), Query{Name: "app.test", Port: 80, Each: true})
		f.want(t, 0, "failed")
		f.want(t, 30*time.Second+time.Millisecond)
		if n := z.count(); n != 31 {
			t.Errorf("got %d lookups in 30s, want one each second", n)
		}
		z.set(func() { z.err = nil })
		f.want(t, time.Second, "10.0.0.1:80")
	})
}

func TestRecordsOfAServiceAreFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const name = "_http._tcp.app.test"
		records := []net.SRV{
			{Target: "A.test.", Port: 81, Priority: 10, Weight: 60},
			{Target: "a.test.", Port: 82, Priority: 10, Weight: 40},
			{Target: "b.test.", Port: 80, Priority: 20},
			{Target: "c.test.", Port: 80, Priority: 20},
		}
		z := &zone{srv: map[string][]net.SRV{name: records}, ttl: time.Second}
		d := z.dialer(t)
		f := startFollow(t, d, Query{Name: name, SRV: true})
		f.want(t, 0, "a.test:81/0/3 a.test:82/0/2 b.test:80/1/1 c.test:80/1/1")
		z.set(func() {
			z.srv[name] = []net.SRV{{Target: "a.test.", Port: 82, Priority: 10, Weight: 5}, {Target: "d.test.", Port: 80, Priority: 5, Weight: 7}, {Target: "e.test.", Port: 80, Priority: 5}}
		})
		f.want(t, time.Second, "d.test:80/0/100 e.test:80 a.test:81/1/12 a.test:82/1/1 b.test:80/2/1 c.test:80/2/1")
		f.want(t, 2*time.Second, "d.test:80/0/100 e.test:80 a.test:82/1/1")
		z.set(func() { z.srv[name] = []net.SRV{{Target: "."}} }) // there is no such service: as a failure
		f.want(t, time.Minute, "d.test:80/0/100 e.test:80 a.test:82/1/1 failed")
		f.stop()
		again := startFollow(t, d, Query{Name: name, SRV: true})
		again.want(t, 0, "d.test:80/0/100 e.test:80 a.test:82/1/1", "d.test:80/0/100 e.test:80 a.test:82/1/1 failed")
		again.stop()
	})
}

// Each address of the hosts of a service is an endpoint, and only once. A host that cannot be looked up has none.
func TestAddressesOfAServiceAreFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const name = "app.service.consul"
		z := &zone{
			srv: map[string][]net.SRV{name: {
				{Target: "a.test.", Port: 80, Priority: 1, Weight: 1}, {Target: "b.test.", Port: 80, Priority: 2, Weight: 1}, {Target: "none.test.", Port: 80, Weight: 1},
			}},
			hosts: map[string]string{"a.test": "10.0.0.1 10.0.0.2 fd00::1", "b.test": "10.0.0.2 10.0.0.3"}, ttl: time.Second,
		}
		f := startFollow(t, z.dialer(t), Query{Name: name, SRV: true, Each: true})
		f.want(t, 0, "10.0.0.1:80 10.0.0.2:80 10.0.0.3:80/1/1 failed") // and no IPv6, for which there is no route
		z.set(func() { z.hosts["none.test"], z.hosts["a.test"] = "fd00::9", "10.0.0.1" })
		f.want(t, time.Second, "[fd00::9]:80 10.0.0.1:80/1/1 10.0.0.2:80/1/1 10.0.0.3:80/2/1")
		f.want(t, 2*time.Second, "[fd00::9]:80 10.0.0.1:80/1/1 10.0.0.2:80/2/1 10.0.0.3:80/2/1")
		f.stop()
	})
}

func TestANameHasAtMostSoManyEndpoints(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all []string
		for i := range 2 * maxEndpoints {
			all = append(all, fmt.Sprintf("10.0.%d.%d", i/256, i%256))
		}
		z := &zone{hosts: map[string]string{"app.test": strings.Join(all, " ")}}
		f := startFollow(t, z.dialer(t), Query{Name: "app.test", Port: 80, Each: true})
		synctest.Wait()
		if got := strings.Fields(f.told[0]); len(got) != maxEndpoints || got[0] != "10.0.0.0:80" {
			t.Errorf("got %d endpoints, want the first %d", len(got), maxEndpoints)
		}
	})
}

// A Watch looks by the lifetime of answers, too.
func TestAWatchFollowsTheLifetimeOfAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &resolver{ttl: 2 * time.Second}
		r.set("10.0.0.1", nil, false)
		d := New(Options{Lookup: r.lookup})
		defer d.Close()
		var n told
		defer d.Watch("app.test:80", n.note)()
		time.Sleep(watchEvery + time.Second)
		r.set("10.0.0.2", nil, false)
		time.Sleep(6 * time.Second)
		synctest.Wait()
		if got := n.take(); got != "10.0.0.1" {
			t.Errorf("got %q, want that 10.0.0.1 has left", got)
		}
	})
}

func ExampleDialer_Follow() {
	d := New(Options{Lookup: func(context.Context, string) ([]netip.Addr, time.Duration, error) {
		return []netip.Addr{netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")}, time.Minute, nil
	}})
	defer d.Close()
	told := make(chan string)
	stop := d.Follow(Query{Name: "app.internal", Port: 8080, Each: true}, func(endpoints []Endpoint, _ error) {
		for _, e := range endpoints {
			told <- e.Dial()
		}
	})
	fmt.Println(<-told)
	fmt.Println(<-told)
	stop()
	// Output:
	// 192.0.2.1:8080
	// 192.0.2.2:8080
}
