package origin

import (
	"errors"
	"slices"
	"strconv"
	"time"

	"edgeproxy/internal/http/method"
)

// This file says which requests are sent once more after a server was reached: where it broke before its head was whole, or answered
// with one of Options.Retry.Statuses. tries.go has those for which no connection could be made.

// Retry says which requests are sent once more to a server. Nothing is where the client may have got part of an answer.
type Retry struct {
	// Statuses are those of answers in whose place another server is asked, if there is one that is up; nil is none. Only
	// safe methods are sent again then.
	Statuses []int
	// Budget is the share of the requests of the last ten seconds that may be sent once more, from 0 for none to 1.
	// Above 0, retryLeast may be in any case.
	Budget float64
}

// retryLeast is how many requests may be sent once more within ten seconds, however few requests there are.
const retryLeast = 20

// validate returns what is wrong with r.
func (r *Retry) validate() error {
	for _, status := range r.Statuses {
		if status < 500 || status > 599 {
			return errors.New("retry: status " + strconv.Itoa(status) + ": must be 500 to 599")
		}
	}
	if !(r.Budget >= 0 && r.Budget <= 1) {
		return errors.New("retry: needs a budget from 0 to 1")
	}
	return nil
}

// budget counts the requests of the last ten seconds, and those of them that were sent once more.
type budget struct {
	seconds [10]struct{ requests, retries int }
	current int64 // the newest second, since the Unix epoch
}

// advance empties the seconds that are over.
func (b *budget) advance(now time.Time) {
	at := now.Unix()
	if at-b.current >= int64(len(b.seconds)) {
		*b = budget{current: at}
	}
	for ; b.current < at; b.current++ {
		b.seconds[(b.current+1)%int64(len(b.seconds))] = struct{ requests, retries int }{}
	}
}

// count notes a request.
func (b *budget) count(now time.Time) {
	b.advance(now)
	b.seconds[b.current%int64(len(b.seconds))].requests++
}

// spend notes that a request is sent once more, and reports false if none may be.
func (b *budget) spend(now time.Time, share float64) bool {
	b.advance(now)
	requests, retries := 0, 0
	for _, s := range b.seconds {
		requests, retries = requests+s.requests, retries+s.retries
	}
	if share == 0 || retries >= retryLeast && float64(retries) >= share*float64(requests) {
		return false
	}
	b.seconds[b.current%int64(len(b.seconds))].retries++
	return true
}

// isSafe reports whether r may be sent to any server once more: its method is safe (RFC 9110 section 9.2.1), and its body, if it has
// one, is at hand.
func (r *Request) isSafe() bool {
	return method.Safe(r.Method) && (r.Body == nil || r.Whole != nil) && r.Upgrade == ""
}

// isIdempotent reports whether r, which a server may have got and has not answered, may be sent once more to that server: it has then
// the effect that it has once (RFC 9110 section 9.2.2). With a condition it may fail the second time, because of the first.
func (r *Request) isIdempotent() bool {
	if r.Method != "PUT" && r.Method != "DELETE" || r.Body != nil && r.Whole == nil {
		return false
	}
	return !slices.ContainsFunc([]string{"If-Match", "If-Unmodified-Since"}, r.Header.Has)
}

// broke reports whether the server was reached and gave no whole head.
func (t *tried) broke() bool {
	if t.failure == nil || t.told || errors.Is(t.failure, ErrTotal) {
		return false
	}
	switch t.failure.Kind {
	case Timeout, Cut, Malformed:
		return true
	case Connect, Overload, Canceled, BadRequest, Unsupported, Fault:
	}
	return false
}

// mayAskAgain reports whether r may be sent once more after t, which broke, or whose status is unwanted. It is sent once more at most.
func (o *Origin) mayAskAgain(t *tried, sofar *attempts, r *Request) bool {
	unwanted := t.failure == nil && len(o.options.Retry.Statuses) > 0 && slices.Contains(o.options.Retry.Statuses, t.status())
	if !unwanted && !t.broke() {
		return false
	}
	return !sofar.again && sofar.tries < maxTries && r.isSafe() && !r.totalOver(time.Now())
}

// another finds another server for r after t, as elsewhere does after a try without a connection. Nil: r is not sent once more, there is no
// other server, or the budget is used up.
func (o *Origin) another(t *tried, sofar *attempts, from *server, r *Request) *waiter {
	if !o.mayAskAgain(t, sofar, r) {
		return nil
	}
	tried := append(slices.Clip(sofar.failedServers), from)
	if !o.pool.left(tried) {
		return nil
	}
	sofar.again = true // or there is no budget for it
	if !o.pool.spend() {
		return nil
	}
	sofar.failedServers = tried
	return o.pool.elsewhere(tried, t.failure, o.pool.target(r))
}

// sameAgain reports whether r is sent to the server of t once more, which is the only one, after it has closed the connection without
// a byte. A server that hangs, or that sends what is no answer, would most likely do so again.
func (o *Origin) sameAgain(t *tried, sofar *attempts, r *Request) bool {
	if !t.silent || t.failure == nil || t.failure.Kind != Cut || !o.mayAskAgain(t, sofar, r) || !o.pool.spend() {
		return false
	}
	sofar.again = true
	return true
}

// spend is spend of the budget, and counts what comes of it.
func (p *pool) spend() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.budget.spend(time.Now(), p.retryShare) {
		p.metrics.retriesRefused.Inc()
		return false
	}
	p.metrics.retries.Inc()
	return true
}

// blame tells the balancer that a request which broke on these servers was answered by another one: it was not the request that broke
// them. It returns what that changed.
func (p *pool) blame(broken []blamed) (changes []Change) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range broken {
		if b.server.index < 0 {
			continue
		}
		if c, changed := p.changedLocked(b.server, b.failure, p.balancer.Failed(b.server.index, b.ticket, now), now); changed {
			changes = append(changes, c)
		}
	}
	return changes
}
