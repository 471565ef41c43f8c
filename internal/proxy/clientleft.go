package proxy

import (
	"context"
	"errors"

	"edgeproxy/internal/conn/presence"
	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/origin"
)

// errClientGone ends a fetch that is for one client alone when that client leaves.
var errClientGone = errors.New("the client closed the connection")

// canceler is a context that ends by Close.
type canceler context.CancelCauseFunc

func (c canceler) Close() error {
	c(errClientGone)
	return nil
}

// askForOneClient sends what f asks for one client alone. It ends when the client leaves, and so does what reads
// the body.
func (f *fill) askForOneClient(waiting *presence.Client) (*origin.Response, error) {
	return roundTripIn(&f.asking, waiting, f.route, f.request)
}

func roundTripFor(waiting *presence.Client, route *route, r *origin.Request) (*origin.Response, error) {
	return roundTripIn(&origin.Asking{}, waiting, route, r)
}

func roundTripIn(asking *origin.Asking, waiting *presence.Client, route *route, r *origin.Request) (*origin.Response, error) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	waiting.Ends(canceler(cancel))
	asking.Context = ctx
	resp, err := route.ask(asking, r)
	if err != nil {
		return nil, err
	}
	waiting.Ends(resp.Body)
	return resp, nil
}

// clientLeft reports whether the client of x has left. If so, the answer to x is a 499.
func (p *Proxy) clientLeft(x *exchange) bool {
	if !x.presence.Left() {
		return false
	}
	p.refuse(x, statusClientGone, reason.ClientGone)
	x.closing = true
	return true
}
