package running

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// shards is the number of a table's shards.
const shards = 8

// Table is the set of requests in progress. The zero Table is empty and ready to use. It is safe for concurrent use.
type Table struct {
	shards [shards]shard
}

// shard has some of the requests. Listing locks it for a few microseconds.
type shard struct {
	mu       sync.Mutex
	requests []*Request
	_        [64]byte // keeps shards on different cache lines
}

// Begin adds r, which is in no table, with its first phase. lane is any number. Concurrent requests contend less if their lanes
// differ.
func (t *Table) Begin(r *Request, lane uint32, a *About, p Phase) {
	r.set(a)
	r.Enter(p)
	s := &t.shards[lane%shards]
	r.shard, r.inTable = s, true
	s.mu.Lock()
	defer s.mu.Unlock()
	r.index = len(s.requests)
	s.requests = append(s.requests, r)
}

// End removes r from its table, if it is in one.
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
	s.requests[r.index], moved.index = moved, r.index
	s.requests[last] = nil
	s.requests = s.requests[:last]
	r.inTable = false
}

// Row is the state of a request at one moment.
type Row struct {
	Start                time.Time
	Phase                Phase
	Scheme, Route        string
	Method, Host, Target string // raw bytes
	Client               string // "" if it has no address
	Cut                  bool   // host or target is longer
	Sent, Received       int64  // body bytes sent to the client; of a tunnel, the bytes both ways
}

// Oldest returns the oldest requests, at most n of them, and the total number.
func (t *Table) Oldest(n int) (rows []Row, total int) {
	for i := range t.shards {
		total += t.shards[i].oldest(n, &rows)
	}
	return rows, total
}

// oldest merges the requests of s into rows, which stays sorted by start and has at most n.
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
			return cmp.Or(row.Start.Compare(start), -1) // after those that began at the same moment
		})
		*rows = slices.Insert(*rows, at, r.row())
	}
	return len(s.requests)
}

// row copies what is shown. The caller holds the shard's lock.
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
