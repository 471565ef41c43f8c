package dial

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// told notes what a Watch says.
type told struct {
	mu   sync.Mutex
	left []string
}

func (n *told) note(a netip.Addr) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.left = append(n.left, a.String())
}

// take returns what was noted since the last call.
func (n *told) take() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := strings.Join(n.left, " ")
	n.left = nil
	return s
}

// A name that was moved to another address was looked up again only to make a new connection, so old ones went on for as long as the old server did.
func TestAnAddressThatHadLeftItsNameWasNotNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &resolver{}
		r.set("10.0.0.1 ::ffff:10.0.0.2", nil, false)
		d := New(Options{Lookup: r.lookup})
		defer d.Close()
		var n told
		stop := d.Watch("app.test:80", n.note)
		after := func(answers int, want string) {
			t.Helper()
			time.Sleep(time.Duration(answers) * watchEvery)
			synctest.Wait()
			if got := n.take(); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
		after(5, "")
		r.set("10.0.0.2 10.0.0.3", nil, false)
		after(2, "")
		r.set("10.0.0.1", nil, false) // some of all, as some servers of names answer
		after(1, "")
		r.set("10.0.0.3", nil, false)
		after(2, "10.0.0.2")
		after(1, "10.0.0.1")
		r.set("", errors.New("resolver down"), false)
		after(10, "")
		r.set("", nil, false) // no address at all
		after(10, "")
		r.set("10.0.0.1", nil, false)
		after(3, "10.0.0.3")
		stop()
		stop()
		asked := r.asked
		r.set("10.0.0.4", nil, false)
		after(10, "")
		if r.asked != asked {
			t.Errorf("got %d lookups behind stop", r.asked-asked)
		}
	})
}

func TestWhatIsNoNameIsNotWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &resolver{}
		d := New(Options{Lookup: r.lookup})
		for _, address := range []string{"10.0.0.1:80", "[::1]:80", "unix:/run/app.sock"} {
			defer d.Watch(address, func(netip.Addr) { t.Errorf("%s: got an address that has left", address) })()
		}
		time.Sleep(time.Minute)
		d.Close()
		d.Watch("late.test:80", func(netip.Addr) {})()
		if r.asked > 0 {
			t.Errorf("got %d lookups, want none", r.asked)
		}
	})
}

// A resolver that hangs holds up neither Close nor the end of a Watch.
func TestAHangingResolverEndsWithItsDialer(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		r := &resolver{hangs: true}
		d := New(Options{Lookup: r.lookup})
		d.Watch("app.test:80", func(netip.Addr) {})
		time.Sleep(watchEvery + time.Second)
		d.Close()
	})
}

func ExampleDialer_Watch() {
	d := New(Options{})
	defer d.Close()
	stop := d.Watch("127.0.0.1:80", func(a netip.Addr) { fmt.Println(a, "has left") }) // an address: nothing is looked up
	stop()
	// Output:
}
