package origin

import (
	"context"
	"errors"
	"time"
)

// ErrTotal is the cause of a failure where the exchange has taken longer than Request.Total.
var ErrTotal error = totalError{}

type totalError struct{}

func (totalError) Error() string { return "the exchange has taken longer than total_timeout" }

func (totalError) Timeout() bool { return true }

// deadline returns when all of the exchange has to end; zero: it may take any time.
func (r *Request) deadline() time.Time {
	if r.Total == 0 {
		return time.Time{}
	}
	return r.Begun.Add(r.Total)
}

// totalOver reports whether the time for all of the exchange is over.
func (r *Request) totalOver(now time.Time) bool { return r.Total > 0 && !now.Before(r.deadline()) }

// withTotal returns a context that ends at the deadline of r, if it has one, and the function that releases it.
func (r *Request) withTotal(ctx context.Context) (context.Context, context.CancelFunc) {
	if r.Total == 0 {
		return ctx, func() {}
	}
	return context.WithDeadlineCause(ctx, r.deadline(), ErrTotal)
}

// startedLate reports whether failure is the end of Request.Total, for a try that began when more than half of that time was
// over. The queue or other servers used that time, so the failure says nothing about this server. When all requests wait, no
// server should be ejected for it.
func (r *Request) startedLate(failure *Error, began time.Time) bool {
	return errors.Is(failure, ErrTotal) && began.Sub(r.Begun) > r.Total/2
}

// ended returns the failure of a request that the end of ctx has stopped before the response.
func ended(ctx context.Context, name, op string) *Error {
	cause := context.Cause(ctx)
	kind := Canceled
	if errors.Is(cause, ErrTotal) {
		kind = Timeout
	}
	return &Error{Kind: kind, Origin: name, Op: op, Err: cause}
}

func (o *Origin) ended(ctx context.Context, op string) *Error { return ended(ctx, o.options.Name, op) }
