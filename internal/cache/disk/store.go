package disk

import (
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"edgeproxy/internal/cache/buffer"
	"edgeproxy/internal/cache/disk/layout"
)

// Store keeps records in one directory. All methods are safe for concurrent use.
type Store struct {
	o      Options
	log    *slog.Logger
	counts counts
	secret uint64 // secret of the directory; 0: it was never open. Only the watch uses it
	seed   atomic.Uint64
	missed atomic.Pointer[hashes] // hashes put or removed while the directory was not in use
	pins   pins
	volume atomic.Pointer[volume] // nil: the directory has failed
	why    atomic.Pointer[error]  // why it has failed
	stop   chan struct{}
	starts chan struct{} // in a group: closed when its seed is known
	wg     sync.WaitGroup
}

// Open opens the directory of o, creates it if there is none, and serves its records. The index fills in the background: records that it has not
// reached yet are not found. Errors: ErrOptions, ErrForeign, ErrTooSmall, statefile.ErrInUse, a *layout.VersionError, or one of the file system.
// Nothing is deleted then.
func Open(o Options) (*Store, error) {
	o, err := o.filled()
	if err != nil {
		return nil, err
	}
	s := newStore(o)
	v, err := openVolume(o, &s.counts, 0)
	if err != nil {
		return nil, err
	}
	s.begin(v)
	s.wg.Go(func() { s.watch(v) })
	return s, nil
}

func newStore(o Options) *Store {
	s := &Store{o: o, log: o.Log, stop: make(chan struct{})}
	s.missed.Store(newHashes())
	return s
}

// begin serves from v, which has just been opened. Keys put or removed while the directory was not in use are not found there.
func (s *Store) begin(v *volume) {
	v.pins, v.loader.again = &s.pins, s.secret != 0
	s.secret, s.o.drop = v.head.Secret, false
	s.seed.Store(v.head.Seed)
	v.forgot = s.missed.Load()
	v.missed = newHashes()
	s.volume.Store(v) // before the fill reads forgot: a removal that is noted there too late finds v, and removes the record there
	s.missed.Store(v.missed)
	v.start()
	s.why.Store(nil)
}

// Seed is the seed of the hashes that the methods take. It never changes for a directory.
func (s *Store) Seed() uint64 { return s.seed.Load() }

// miss notes that the record under h was replaced or removed while the directory is not in use.
func (s *Store) miss(h uint64) {
	s.missed.Load().add(h)
	for v := s.volume.Load(); v != nil; { // opened since then
		v.remove(h)
		next := s.volume.Load()
		if next == v {
			return
		}
		v = next
	}
}

// changed says that the record under h was replaced or removed in v. If v was replaced meanwhile, its successor has not seen that.
func (s *Store) changed(v *volume, h uint64) {
	if s.volume.Load() != v {
		s.miss(h)
	}
}

// Put takes a record: h is the hash of key, block and body are opaque. It never waits. The bytes become the Store's: nobody may change them.
// When it returns nil, Find finds the record, until the directory fails: then a record that was not written yet is lost. Whatever it returns, the
// record that was under h before has left, also when the directory has failed and is in use again. After a restart it may be back: see Remove.
// Errors: ErrBusy, ErrRate, ErrTooLarge, ErrReadOnly, ErrOff.
func (s *Store) Put(h uint64, key, block, body []byte) error {
	return s.put(&put{Record: layout.Record{Hash: h, Key: key, Block: block, Body: body}})
}

// PutBuffer is Put for a body in a Buffer. The Store becomes an owner of it, unless there is an error.
func (s *Store) PutBuffer(h uint64, key, block []byte, body *buffer.Buffer) error {
	return s.put(&put{Record: layout.Record{Hash: h, Key: key, Block: block, Body: body.Bytes()}, buffer: body})
}

func (s *Store) put(p *put) error {
	v := s.volume.Load()
	if v == nil {
		s.miss(p.Hash)
		s.counts.refused(ErrOff)
		return ErrOff
	}
	err := v.put(p)
	s.changed(v, p.Hash)
	if err != nil {
		s.counts.refused(err)
		return err
	}
	s.counts.puts.Add(1)
	return nil
}

// Find finds the record of key, whose hash is h, and stores it in hit, which the caller closes. It waits for the device for ReadWait and
// ReadDeadline at most. A record that cannot be read is not found. A hit usually saves the record when the hand passes it.
func (s *Store) Find(h uint64, key []byte, hit *Hit) bool {
	v := s.volume.Load()
	if v == nil || v.failed() || !v.reader.find(h, key, hit) {
		s.counts.misses.Add(1)
		return false
	}
	return true
}

// Peek is Find that counts as no hit and no miss, and does not affect eviction. With a nil key it finds the record under h, whatever its key is.
func (s *Store) Peek(h uint64, key []byte, hit *Hit) bool {
	v := s.volume.Load()
	return v != nil && !v.failed() && v.reader.locate(h, key, hit)
}

// Holds reports whether there may be a record under h, from memory alone. It is wrong for a record of another key with much the same hash, 1.4
// of 100,000 look-ups, and for records that the index has not reached since Open. It does not wait, and allocates nothing.
func (s *Store) Holds(h uint64) bool {
	v := s.volume.Load()
	return v != nil && !v.failed() && (v.queue.has(h) || v.index.Has(h))
}

// Touch counts a hit of the record under h that was served from elsewhere, as Find counts its own. A record that waits to be written keeps no
// hits. It does not wait, and allocates nothing.
func (s *Store) Touch(h uint64) {
	if v := s.volume.Load(); v != nil {
		v.reader.touch(h)
	}
}

// Hits returns how often the record under h was found or touched since the hand passed, at most 3; false if Holds is. It does not wait, and
// allocates nothing.
func (s *Store) Hits(h uint64) (hits int, ok bool) {
	v := s.volume.Load()
	if v == nil || v.failed() {
		return 0, false
	}
	return v.reader.hits(h)
}

// Remove removes all records of the key with hash h. They are not found any more when Remove returns, also when the directory has failed, before
// or after that, and is in use again. After a restart they may be back: after a kill, until Keep has returned nil; where the directory is
// read-only or fails, also after Close, as only this process knows of the removal then.
func (s *Store) Remove(h uint64) {
	v := s.volume.Load()
	if v == nil {
		s.miss(h)
		return
	}
	v.remove(h)
	s.changed(v, h)
}

// Keep waits until all removals so far are on the disk: after a kill or a loss of power the records are not back. An error says that they may
// be: ErrOff and ErrReadOnly too.
func (s *Store) Keep() error {
	v := s.volume.Load()
	if v == nil {
		return ErrOff
	}
	return v.keep()
}

// Complete reports whether the index knows all records that a later opening could find: the directory is in use and may be written to, and the
// index has reached all of its records and had room for them. Then, once Keep has returned, no key comes back that Holds denies. It does not
// wait.
func (s *Store) Complete() bool {
	v := s.volume.Load()
	return v != nil && v.complete()
}

// Flush waits until all records put so far are written, or given up (Stats.Dropped, Full). It does not wait for a sync.
func (s *Store) Flush() error {
	v := s.volume.Load()
	if v == nil {
		return ErrOff
	}
	return v.flushAll()
}

// errStopped says that visit has returned false.
var errStopped = errors.New("disk: stopped")

// Each calls visit with every record that was put before the call and is there for the whole call, some of them twice, until visit returns
// false. Records put meanwhile may be left out. It reads the heads of all records, SweepRate bytes a second. Visit must not wait. It may call
// only Remove of its Item, and no method of the Store. An error says that not all records were visited.
func (s *Store) Each(visit func(*Item) bool) error {
	v := s.volume.Load()
	if v == nil {
		return ErrOff
	}
	if err := v.each(visit); !errors.Is(err, errStopped) {
		return err
	}
	return nil
}

// Err returns why the directory is not in use; nil if it is.
func (s *Store) Err() error {
	if why := s.why.Load(); why != nil {
		return *why
	}
	return nil
}

// Close writes what waits, seals the open segments, and releases the directory. It waits for that. If the device hangs, it returns after
// Deadline.
func (s *Store) Close() {
	close(s.stop)
	s.wg.Wait()
}

// retryLast is the longest time between tries to open a directory that has failed.
const retryLast = time.Minute

// watch checks that the volume works, and replaces it when it does not.
func (s *Store) watch(v *volume) {
	tick := time.NewTicker(s.o.every)
	defer tick.Stop()
	for {
		select {
		case <-s.stop:
			s.endVolume(v)
			return
		case <-v.broke:
			if v = s.replace(v); v == nil {
				return
			}
		case <-tick.C:
			v.checkHung(s.o.Now())
		}
	}
}

// replace ends v, which has failed, and returns a new volume once the directory can be opened again. It returns nil when the Store is closed.
func (s *Store) replace(v *volume) *volume {
	s.volume.Store(nil)
	why := *v.failure.Load()
	s.why.Store(&why)
	s.counts.failures.Add(1)
	s.log.Error("a directory of the disk tier has failed; the proxy runs without it and tries it again at least once a minute", "path", s.o.Path, "error", why.Error())
	gone := make(chan struct{})
	go func() { // this hangs if the device does
		v.close()
		close(gone)
	}()
	return s.reopen(gone)
}

// reopen opens the directory, which must be a cache's, once gone is closed. It returns nil when the Store is closed.
func (s *Store) reopen(gone chan struct{}) *volume {
	wait := s.o.every
	for {
		select {
		case <-s.stop:
			s.await(gone)
			return nil
		case <-time.After(wait):
		}
		wait = min(2*wait, retryLast)
		select {
		case <-gone:
		default:
			continue // the old volume still has the directory
		}
		secret := s.secret
		if secret == 0 {
			secret = anySecret
		}
		fresh, err := openVolume(s.o, &s.counts, secret)
		if err != nil {
			s.why.Store(&err)
			continue
		}
		s.begin(fresh)
		s.log.Info("a directory of the disk tier is in use again", "path", s.o.Path)
		return fresh
	}
}

// endVolume ends v.
func (s *Store) endVolume(v *volume) {
	s.volume.Store(nil)
	s.why.Store(&errClosed)
	gone := make(chan struct{})
	go func() {
		v.close()
		close(gone)
	}()
	s.await(gone)
}

var errClosed = ErrOff

func (s *Store) await(gone chan struct{}) {
	select {
	case <-gone:
	case <-time.After(s.o.Deadline):
		s.log.Error("a directory of the disk tier was not closed in time: the device does not respond", "path", s.o.Path, "waited", s.o.Deadline)
	}
}
