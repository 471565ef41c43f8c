package running

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// shards is how many parts a table has.
const shards = 8

// Table is the requests that run. The zero Table has none. It is safe for concurrent use.
type Table struct {
	shards [shards]shard
}

// shard has some of the requests. A list holds it up for a few microseconds.
type shard struct {
	mu       sync.Mutex
	requests []*Request
	_        [64]byte // no two shards share a line of the processor's cache
}

// Begin enters r, which is in no table, in its first phase. Lane is any number; requests that begin at the same time had better have
// different ones.
func (t *Table) Begin(r *Request, lane uint32, a *About, p Phase) {
	r.set(a)
	r.Enter(p)
	s := &t.shards[lane%shards]
	r.shard, r.on = s, true
	s.mu.Lock()
	defer s.mu.Unlock()
	r.place = len(s.requests)
	s.requests = append(s.requests, r)
}

// End takes r out, if it is in.
func (r *Request) End() {
	if !r.On() {
		return
	}
	r.queued.Store(nil)
	s := r.shard
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.requests) - 1
	moved := s.requests[last]
	s.requests[r.place], moved.place = moved, r.place
	s.requests[last] = nil
	s.requests = s.requests[:last]
	r.on = false
}

// Row is what is known of a request at one moment.
type Row struct {
	Start                time.Time
	Phase                Phase
	Scheme, Route        string
	Method, Host, Target string // bytes as they came
	Client               string // "" where it has no address
	Cut                  bool   // host or target is longer
	Sent, Received       int64  // bytes of the answer's body; of a tunnel, both ways
}

// Oldest returns the requests that began first, at most n of them, and how many there are in all.
func (t *Table) Oldest(n int) (rows []Row, total int) {
	for i := range t.shards {
		total += t.shards[i].oldest(n, &rows)
	}
	return rows, total
}

// oldest adds its own requests to rows, which has at most n, in their order.
func (s *shard) oldest(n int, rows *[]Row) (total int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.requests {
		full := len(*rows) >= n
		if full && (n <= 0 || !r.start.Before((*rows)[n-1].Start)) {
			continue
		}
		if full {
			*rows = (*rows)[:n-1]
		}
		at, _ := slices.BinarySearchFunc(*rows, r.start, func(row Row, start time.Time) int {
			return cmp.Or(row.Start.Compare(start), -1) // behind those that began at the same moment
		})
		*rows = slices.Insert(*rows, at, r.row())
	}
	return len(s.requests)
}

// row copies what is shown. The shard is locked.
func (r *Request) row() Row {
	b := &r.buffers
	row := Row{
		Start: r.start, Phase: Phase(r.phase.Load()), Scheme: r.scheme, Route: r.route,
		Method: string(b.method[:r.method.size]), Host: string(b.host[:r.host.size]), Target: string(b.target[:r.target.size]),
		Cut: r.host.cut || r.target.cut, Sent: r.sent.Load(), Received: r.received.Load(),
	}
	if queued := r.queued.Load(); row.Phase == Origin && queued != nil && queued.Load() {
		row.Phase = Queue
	}
	if r.client.IsValid() {
		row.Client = r.client.String()
	}
	return row
}
