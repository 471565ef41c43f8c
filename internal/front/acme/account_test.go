package acme

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"edgeproxy/internal/test/testkit"
)

// registrations counts the accounts that are made. A request for one may be repeated,
// since pebble refuses some of the nonces that it has issued.
type registrations struct {
	*http.Transport
	n atomic.Int64
}

func (r *registrations) RoundTrip(q *http.Request) (*http.Response, error) {
	res, err := r.Transport.RoundTrip(q)
	if err == nil && res.StatusCode == http.StatusCreated && strings.HasSuffix(q.URL.Path, "/sign-me-up") { // pebble's newAccount
		r.n.Add(1)
	}
	return res, err
}

// TestManyOrdersMakeOneAccountAnew: renewals run concurrently. Each one that learned of the
// account's end used to remove the new account that another had just made. Authorities
// allow few.
func TestManyOrdersMakeOneAccountAnew(t *testing.T) {
	t.Parallel()
	var names []string
	for range 6 {
		names = append(names, dueName())
	}
	r := newRig(t, names...)
	p := r.pebble(30 * time.Minute)
	m := r.open()
	m.Start()
	serials := map[string]string{}
	for _, name := range names {
		serials[name] = r.has(m, name).Leaf.SerialNumber.String()
	}
	m.Close()
	p.Stop()
	r.pebble(30 * time.Minute) // which remembers nothing
	m = r.open()
	asked := &registrations{Transport: m.issuer.http.Transport.(*http.Transport)}
	m.issuer.http.Transport = asked
	m.Start()
	for _, name := range names {
		testkit.Eventually(t, name+" is renewed", func() bool {
			return m.Certificate(name).Leaf.SerialNumber.String() != serials[name]
		})
	}
	if got := asked.n.Load(); got != 1 {
		t.Errorf("got %d accounts, want 1", got)
	}
}
