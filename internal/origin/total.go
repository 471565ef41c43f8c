package origin

import (
	"context"
	"errors"
	"time"
)

// ErrTotal is the cause of a failure where the exchange has taken longer than Request.Total.
var ErrTotal error = totalError{}

type totalError struct{}

func (totalError) Error() string { return "the whole exchange has taken longer than it may" }

func (totalError) Timeout() bool { return true }

// end is when all of the exchange has to be over; zero: it may take any time.
func (r *Request) end() time.Time {
	if r.Total == 0 {
		return time.Time{}
	}
	return r.Begun.Add(r.Total)
}

// over reports whether all of the exchange has to be over now.
func (r *Request) over(now time.Time) bool { return r.Total > 0 && !now.Before(r.end()) }

// bounded returns a context that ends when the exchange has to be over, if it has to, and what gives it back.
func (r *Request) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if r.Total == 0 {
		return ctx, func() {}
	}
	return context.WithDeadlineCause(ctx, r.end(), ErrTotal)
}

// cameLate reports whether failure is that of a try on a server that began when more than half of the time was over. The queue or
// other servers had it, so it says nothing of this one: where all requests wait, no server should be ejected for it.
func (r *Request) cameLate(failure *Error, began time.Time) bool {
	return errors.Is(failure, ErrTotal) && began.Sub(r.Begun) > r.Total/2
}

// ended is the failure of what ctx has ended, on the way to a response.
func ended(ctx context.Context, name, op string) *Error {
	cause := context.Cause(ctx)
	kind := Canceled
	if errors.Is(cause, ErrTotal) {
		kind = Timeout
	}
	return &Error{Kind: kind, Origin: name, Op: op, Err: cause}
}

func (o *Origin) ended(ctx context.Context, op string) *Error { return ended(ctx, o.options.Name, op) }
