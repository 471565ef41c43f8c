package trace

import (
	"context"
	"fmt"
)

// Object is one object that is requested.
type Object struct {
	// Size is the largest seen, in bytes, from 0 to 1 TiB.
	Size int64
	// Hi and Lo are the xxh3-128 hash of the key with a seed that never changes.
	// Two keys with the same hash are one object here.
	Hi, Lo uint64
}

// Access is one request.
type Access struct {
	// Object is the index of the object in Objects.
	Object uint32
	// Head says that it was a HEAD.
	Head bool
	// At is the time in Unix nanoseconds, to the microsecond. It never runs backwards.
	// It is 0 if the trace has no times.
	At int64
}

// Facts sums up a trace. Sizes are the objects' own: 1 request of 10 bytes for
// an object of 20 counts 20; a HEAD counts no bytes.
type Facts struct {
	Requests      int64 `json:"requests"`
	Objects       int64 `json:"objects"`
	RequestBytes  int64 `json:"request_bytes"`   // over all requests
	UniqueBytes   int64 `json:"unique_bytes"`    // over all objects
	OneHitObjects int64 `json:"one_hit_objects"` // asked for once
	BadLines      int64 `json:"bad_lines"`       // could not be understood
	Skipped       int64 `json:"-"`               // understood, and not used: the package comment says which
	EmptyObjects  int64 `json:"-"`               // objects that no GET has shown a byte of
	Heads         int64 `json:"-"`               // requests that were HEADs
	HeadObjects   int64 `json:"-"`               // never asked for by a GET
}

// ChargedBytes is the size of a cache with all objects: UniqueBytes, and 1 byte for each
// empty object, because no object is free to keep. Capacities in percent are shares of it.
func (f Facts) ChargedBytes() int64 { return f.UniqueBytes + f.EmptyObjects }

// Storable is how many objects a cache could hold: those that a GET asked for.
func (f Facts) Storable() int64 { return f.Objects - f.HeadObjects }

// Notes says what may be wrong with the requests.
type Notes struct {
	// OddTimes is how many requests had a time that goes back by over an hour or
	// ahead by over 30 days, while those around them do not. They count as of the
	// line before.
	OddTimes int64

	// Trailing names the gzip files that are followed by bytes of another kind,
	// which were left out.
	Trailing []string

	// Cut names the compressed files that end too early. What they have was used.
	Cut []string
}

// Trace is a sequence of requests. It does not change, so it is safe for concurrent use,
// except Close.
type Trace struct {
	objects  []Object
	keys     []key // nil unless Options.Keys
	requests *spool
	facts    Facts
	notes    Notes
	start    int64 // Unix microseconds of the first time believed
	timed    bool
}

// key is the key of an object.
type key struct{ host, target string }

// Objects returns the objects in the order of their first requests. The slice belongs to
// the trace: do not write to it. It takes 24 bytes an object.
func (t *Trace) Objects() []Object { return t.objects }

// Facts returns the sums.
func (t *Trace) Facts() Facts { return t.facts }

// Notes returns the notes of the reading.
func (t *Trace) Notes() Notes { return t.notes }

// HasTimes reports whether the requests have times: at least 99 of 100 had a valid time, and
// at most one of 100 an odd one. A request without a time gets the time of the line before.
func (t *Trace) HasTimes() bool { return t.timed }

// Key returns the key of object i: the host, "" if the log has none, and the target in
// its normal form (wire.AppendNormal), with any other ASCII bytes. In a sequence the target is "/o/" and the id, in a
// generated workload a path. Key panics if the trace was read without Options.Keys.
func (t *Trace) Key(i uint32) (host, target string) {
	return t.keys[i].host, t.keys[i].target
}

// Each calls f with the requests in order, some thousand at a time, until f returns an
// error or ctx ends. It returns that error or the cause. f may use the slice only during
// the call. Each may be called several times, also concurrently.
func (t *Trace) Each(ctx context.Context, f func([]Access) error) error {
	r := t.requests.replay()
	batch := make([]Access, 0, batchLen)
	for left := t.facts.Requests; left > 0; left -= int64(len(batch)) {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		batch = batch[:min(left, batchLen)]
		if err := r.fill(batch); err != nil {
			return fmt.Errorf("read the requests back: %w", err)
		}
		t.setTimes(batch)
		if err := f(batch); err != nil {
			return err
		}
	}
	return nil
}

// All returns the requests in order, in memory: 16 bytes each. The caller owns the slice.
func (t *Trace) All(ctx context.Context) ([]Access, error) {
	all := make([]Access, 0, t.facts.Requests)
	err := t.Each(ctx, func(batch []Access) error {
		all = append(all, batch...)
		return nil
	})
	return all, err
}

// setTimes turns microseconds since the start into Unix nanoseconds.
func (t *Trace) setTimes(batch []Access) {
	for i := range batch {
		if t.timed {
			batch[i].At = (t.start + batch[i].At) * 1000
		} else {
			batch[i].At = 0
		}
	}
}

// Close removes the temporary file. The trace has no requests after it; facts and objects
// stay.
func (t *Trace) Close() error { return t.requests.Close() }
