package trace

import (
	"context"
	"fmt"
)

// Object is one thing that is asked for.
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
	// Head says that it was a HEAD, for what a GET of the object stores.
	Head bool
	// At is when, in Unix nanoseconds, known to the microsecond. It never runs
	// backwards. It is 0 where the trace has no times.
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
	EmptyObjects  int64 `json:"-"`               // of which a GET has shown no byte
	Heads         int64 `json:"-"`               // requests that were HEADs
	HeadObjects   int64 `json:"-"`               // never asked for by a GET
}

// ChargedBytes is UniqueBytes with 1 byte for each empty object, for nothing is
// free to keep: what a cache of all objects would hold. Capacities in percent are
// those of it.
func (f Facts) ChargedBytes() int64 { return f.UniqueBytes + f.EmptyObjects }

// Storable is how many objects a cache could hold: those that a GET asked for.
func (f Facts) Storable() int64 { return f.Objects - f.HeadObjects }

// Notes say where the requests may not be what they seem.
type Notes struct {
	// OddTimes is how many requests had a time that goes back by over an hour or
	// ahead by over 30 days, while those around them do not. They count as of the
	// line before.
	OddTimes int64

	// Trailing names the gzip files that are followed by bytes of another kind,
	// which were left out.
	Trailing []string
}

// Trace is a sequence of requests. It does not change once it is made, so it is
// safe for concurrent use, but for Close.
type Trace struct {
	objects  []Object
	keys     []key // nil unless Options.Keys
	requests *spool
	facts    Facts
	notes    Notes
	start    int64 // Unix microseconds of the first time believed
	timed    bool
}

// key is what an object is asked by.
type key struct{ host, target string }

// Objects returns the objects in the order they were first asked for in. The
// slice is the trace's own: read it only. It costs 24 bytes an object.
func (t *Trace) Objects() []Object { return t.objects }

// Facts returns the sums.
func (t *Trace) Facts() Facts { return t.facts }

// Notes returns what else is to be known of the reading.
func (t *Trace) Notes() Notes { return t.notes }

// HasTimes reports whether the requests have times: 99 of 100 lines had one that
// could be read, and at most one of 100 an odd one. A request without counts as of
// the line before it.
func (t *Trace) HasTimes() bool { return t.timed }

// Key returns what object i is asked by: the host, "" where the log has none, and
// the target as the client sent it, which may hold any bytes. Of a sequence it
// is "/o/" and the id, of a made-up workload a path. Only a trace read with
// Options.Keys has keys; to ask another is a mistake, and panics.
func (t *Trace) Key(i uint32) (host, target string) {
	return t.keys[i].host, t.keys[i].target
}

// Each calls f with the requests in order, some thousand at a time, until f
// returns an error or ctx ends; it returns that error or the cause. The slice is
// f's during the call only. It may be called several times, also at once.
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
		t.date(batch)
		if err := f(batch); err != nil {
			return err
		}
	}
	return nil
}

// date turns microseconds since the start into what Access promises.
func (t *Trace) date(batch []Access) {
	for i := range batch {
		if t.timed {
			batch[i].At = (t.start + batch[i].At) * 1000
		} else {
			batch[i].At = 0
		}
	}
}

// Close gives the temporary file back. The trace has no requests after it; facts
// and objects stay.
func (t *Trace) Close() error { return t.requests.Close() }
