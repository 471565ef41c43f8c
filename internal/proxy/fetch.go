package proxy

import (
	"edgeproxy/internal/cache"
	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/http/rfc9111"
)

// fetch asks the origin for what f says. Then f has a response, or a head that holds a stored
// one: what a 304 has confirmed (RFC 9111 section 4.3.3), or what may be used stale where the
// origin failed (section 4.2.4, RFC 5861). Else there is an error.
func (f *fill) fetch() error {
	defer f.interims.end()
	err := f.ask()
	if f.useStaleOnFailure(err) || err != nil || f.stale == nil || f.resp.Status != statusNotModified {
		return f.failed(err)
	}
	f.head = f.p.renewBy304(&f.job, f.resp, f.flight.Purged)
	f.dropResponse()
	if f.head != nil {
		return nil
	}
	f.plain() // the 304 is about another response than the stored one
	err = f.ask()
	f.useStaleOnFailure(err)
	return f.failed(err)
}

// failed returns err unless a stored response stands in for it. It logs an err that no request fails with.
func (f *fill) failed(err error) error {
	if err != nil && (f.head != nil || f.refresh) {
		f.logFailure(err)
	}
	if f.head != nil {
		return nil
	}
	return err
}

// ask asks the origin. A purge that has taken what was to be validated leaves a plain fetch.
func (f *fill) ask() (err error) {
	if f.stale != nil && !f.p.stillStored(f.stale, f.resource) {
		f.plain()
	}
	if call := f.call; call != nil {
		f.call = nil
		resp, failed := call.Finish()
		f.resp, err = f.route.rewritten(f.request, resp, failed)
	} else if f.flight == nil {
		f.resp, err = f.askForOneClient(f.presence)
	} else {
		f.asking.Context = f.flight.Context()
		f.resp, err = f.route.ask(&f.asking, f.request)
	}
	if err == nil {
		f.resp, err = f.askedFor(f.resp)
	}
	return err
}

// dropResponse lets go of a response in whose place a stored one is the answer.
func (f *fill) dropResponse() {
	if f.resp != nil {
		_ = f.resp.Body.Close()
		f.resp = nil
	}
}

// useStaleOnFailure makes what f has to spare its head, if it may be used in place of a failure: err, or
// what the response says. It reports whether it did.
func (f *fill) useStaleOnFailure(err error) bool {
	if f.fallback == nil {
		return false
	}
	kind, status, why := rfc9111.OriginFailure, 0, reason.OriginError
	if err != nil {
		if f.flight == nil && f.presence.Left() {
			return false // this is why it has failed
		}
		why = failureReason(err)
	} else {
		var failed bool
		if kind, failed = rfc9111.FailureOf(f.resp.Status); !failed {
			return false
		}
		status = f.resp.Status
	}
	if f.purged(f.fallback) {
		return false
	}
	if f.head = f.p.staleOnFailure(&f.job, f.fallback, kind, status, why); f.head != nil {
		f.head.resp = f.resp
		f.dropResponse()
	}
	return f.head != nil
}

// purged reports whether e was taken out since f began, as its flight says or the store.
func (f *fill) purged(e *cache.Object) bool {
	if f.flight != nil {
		return f.flight.Purged()
	}
	return !f.p.isStored(e)
}

// isStored reports whether something is stored under the key of e.
func (p *Proxy) isStored(e *cache.Object) bool {
	found, _ := p.Store.Find(e.Key(), e.Name())
	return found != nil || p.Store.OnDisk(e.Name())
}

// staleOnFailure returns e as the answer to j in place of a failure, nil if it may not be used stale,
// or was purged meanwhile.
func (p *Proxy) staleOnFailure(j *job, e *cache.Object, kind rfc9111.Failure, status int, why reason.Reason) *outcome {
	if p.purgeRaced(j) || !p.stillStored(e, j.resource) {
		return nil
	}
	policy := e.Policy()
	if !policy.MayServeStale(e.Age(now()), kind, j.directives, j.route.HonorRequest) {
		return nil
	}
	return &outcome{held: e, as: resultStale, status: status, why: why}
}

// staleOnSharedFailure is staleOnFailure for a failure that others had, whose flight j has waited for.
func (p *Proxy) staleOnSharedFailure(j *job, e *cache.Object, err error) *outcome {
	if e == nil || !p.isStored(e) {
		return nil
	}
	return p.staleOnFailure(j, e, rfc9111.OriginFailure, 0, failureReason(err))
}
