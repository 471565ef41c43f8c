package origin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"edgeproxy/internal/http/field"
)

// Health is how a server is asked whether it is well: by a GET on a connection of
// its own, beside those of MaxConnections.
type Health struct {
	Path string // the target; "" is no checks
	// Host is sent as Host. The default is that of the server, else its address.
	Host string
	// Interval is the time between a check and the next. Default 10s.
	Interval time.Duration
	// Timeout bounds one check whole. Default 2s.
	Timeout time.Duration
	// Healthy and Unhealthy are how many good or bad checks in a row bring a server
	// back or take it out. Defaults 2 and 3.
	Healthy, Unhealthy int
	// Status is that of a good answer. Default 200 to 399.
	Status Statuses
}

// Statuses is a range of status codes.
type Statuses struct {
	From, To int // 200 to 599, From not above To
}

// String returns N or N-M.
func (s Statuses) String() string {
	if s.From == s.To {
		return strconv.Itoa(s.From)
	}
	return strconv.Itoa(s.From) + "-" + strconv.Itoa(s.To)
}

func (h *Health) setDefaults() {
	h.Interval = cmp.Or(h.Interval, 10*time.Second)
	h.Timeout = cmp.Or(h.Timeout, 2*time.Second)
	h.Healthy = cmp.Or(h.Healthy, 2)
	h.Unhealthy = cmp.Or(h.Unhealthy, 3)
	h.Status = cmp.Or(h.Status, Statuses{200, 399})
}

func (h *Health) validate() error {
	if h.Interval < 0 || h.Timeout < 0 || h.Healthy < 0 || h.Unhealthy < 0 || h.Status.From < 0 || h.Status.To < 0 {
		return errors.New("health: must have no negative value")
	}
	if h.Path != "" && !unbroken(h.Path) || !unbroken(h.Host) {
		return errors.New("health: must have no space or control byte in path or host")
	}
	return nil
}

// checks asks the servers of an origin again and again, each in a goroutine.
type checks struct {
	origin  *Origin
	ctx     context.Context //nolint:containedctx // context of all checks
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// newChecks returns those of o; nil: there are none.
func newChecks(o *Origin) *checks {
	if o.options.Health.Path == "" {
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &checks{origin: o, ctx: ctx, cancel: cancel}
}

// start asks s from now on, until stop is called. It is not called beside close, or later.
func (k *checks) start(s *server) (stop func()) {
	if k == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(k.ctx)
	k.running.Go(func() { k.watch(ctx, s) })
	return cancel
}

// close ends the checks and waits for them.
func (k *checks) close() {
	if k != nil {
		k.cancel()
		k.running.Wait()
	}
}

func (k *checks) watch(ctx context.Context, s *server) {
	for timer := time.NewTimer(0); ; timer.Reset(k.origin.options.Health.Interval) {
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		failure := k.check(ctx, s)
		if ctx.Err() != nil {
			return
		}
		if local(failure) || faulty(failure) {
			continue // it is no fault of the server
		}
		k.origin.tell(k.origin.pool.checked(s, failure))
	}
}

// authority returns the Host for what is asked of s without one: a socket has no name.
func (s *server) authority() string {
	if strings.HasPrefix(s.Address, socketPrefix) {
		return "localhost"
	}
	return cmp.Or(s.Authority, s.Address)
}

// check asks the server once, and returns what is wrong. It does not read the body.
func (k *checks) check(ctx context.Context, s *server) (err error) {
	defer k.origin.options.Panics.Into(&err)
	h := &k.origin.options.Health
	ctx, cancel := context.WithTimeout(ctx, h.Timeout)
	defer cancel()
	status, failure := k.ask(ctx, s, &Request{
		Method: "GET", Target: h.Path, Host: cmp.Or(h.Host, s.authority()),
		Header: field.List{{Name: "User-Agent", Value: "edgeproxy health check"}},
	})
	switch {
	case ctx.Err() != nil:
		return k.origin.fail(Timeout, "check the health", context.Cause(ctx))
	case failure != nil:
		return failure
	case status < h.Status.From || status > h.Status.To:
		return fmt.Errorf("health check: got status %d, must be %d to %d", status, h.Status.From, h.Status.To)
	}
	return nil
}

// ask returns the status of the answer.
func (k *checks) ask(ctx context.Context, s *server, r *Request) (int, *Error) {
	if s.h2 != nil {
		return s.h2.ask(ctx, r)
	}
	c, failure := k.origin.connect(ctx, s, 0)
	if failure != nil {
		return 0, failure
	}
	defer c.close()
	defer context.AfterFunc(ctx, c.close)()
	x := &attempt{origin: k.origin, c: c, r: r}
	failure = x.run()
	if failure != nil && !errors.Is(ctx.Err(), context.Canceled) {
		k.origin.reportBadConn(s, c.socket)
	}
	return x.head.status, failure
}
