package disk

import (
	"errors"
	"hash/fnv"
	"io"
	"math"
	"reflect"
	"slices"

	"edgeproxy/internal/cache/buffer"
	"edgeproxy/internal/cache/disk/layout"
	"edgeproxy/internal/cache/statefile"
)

// Group is one or more Stores, each with a directory and a bound of its own: one for each device. Each key belongs to one of them, by its hash
// and the path of the directory. A larger directory gets more keys (weighted rendezvous hashing). If a directory is added, removed, or gets
// another bound, some keys belong to another Store from then on. Records that other Stores have of them stay there and are found there, until
// they are put again or evicted. A directory that has failed is skipped: its keys are misses, and puts of them return ErrOff. All methods are
// safe for concurrent use. See Store for what they do.
type Group struct {
	stores  []*Store
	weights []weight
}

// weight is the input of rendezvous hashing for one Store.
type weight struct {
	id    uint64
	bytes float64
}

// ErrNoDirectory says that a group has no directory, or none that works.
var ErrNoDirectory = errors.New("no directory can be used")

// OpenGroup opens a directory for each of all. If the file system does not let it open one, but another opens, it leaves that one out, logs that
// to Options.Log, and tries again from time to time. A directory that was used alone or in another group, or that was out of this group for a
// while, is emptied, as nothing says which of its records are outdated (members.go): OpenGroup logs that, and Dropped tells it in advance. The
// home keeps its records. Errors: those of Open that concern the options or the content of a directory, and ErrNoDirectory.
func OpenGroup(all ...Options) (*Group, error) {
	g, a := &Group{}, arrange(all)
	seed, working := a.seed, 0
	var failures []error
	for i, o := range all {
		o.drop = a.dropped[i]
		s, err := openMember(o, seed)
		if err != nil {
			g.Close()
			return nil, err
		}
		g.stores = append(g.stores, s)
		g.weights = append(g.weights, weight{id: idOf(o.Path), bytes: float64(o.MaxBytes)})
		if err := s.Err(); err != nil {
			failures = append(failures, err)
			continue
		}
		working++
		seed = s.Seed()
	}
	if working == 0 {
		g.Close()
		return nil, errors.Join(append(failures, ErrNoDirectory)...)
	}
	g.writeMembers(a.known)
	for _, s := range g.stores {
		s.wanted(seed)
	}
	return g, nil
}

// openMember is Open, except that the Store that it returns may have failed.
func openMember(o Options, seed uint64) (*Store, error) {
	o, err := o.filled()
	if err != nil {
		return nil, err
	}
	o.seed = seed
	s := newStore(o)
	v, err := openVolume(o, &s.counts, 0)
	switch {
	case err == nil:
		s.begin(v)
	case unfit(err):
		return nil, err
	default:
		s.why.Store(&err)
		o.Log.Error("a directory of the disk tier cannot be opened; the proxy runs without it and tries it again at least once a minute", "path", o.Path, "error", err.Error())
	}
	s.starts = make(chan struct{})
	s.wg.Go(func() {
		select {
		case <-s.starts: // the seed is known
		case <-s.stop:
		}
		if v == nil {
			gone := make(chan struct{})
			close(gone)
			if v = s.reopen(gone); v == nil {
				return
			}
		}
		s.watch(v)
	})
	return s, nil
}

// wanted sets the seed that the directory must have, and starts the watch.
func (s *Store) wanted(seed uint64) {
	s.o.seed = seed
	close(s.starts)
}

// unfit reports whether err concerns the options or the content of the directory, so that another try does not help.
func unfit(err error) bool {
	var version *layout.VersionError
	for _, e := range []error{ErrOptions, ErrForeign, ErrTooSmall, ErrSeed, statefile.ErrInUse, statefile.ErrTorn, layout.ErrDamaged} {
		if errors.Is(err, e) {
			return true
		}
	}
	return errors.As(err, &version)
}

// idOf returns a hash of a path.
func idOf(path string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, path) // it never fails
	return h.Sum64()
}

// Stores returns the Stores, in the order of their options.
func (g *Group) Stores() []*Store { return g.stores }

// storeOf returns the Store to which the key with hash h belongs.
func (g *Group) storeOf(h uint64) *Store {
	if len(g.stores) == 1 {
		return g.stores[0]
	}
	best, least := 0, math.Inf(1)
	for i, w := range g.weights {
		x := layout.Mix(h ^ w.id)
		u := (float64(x>>11) + 0.5) / (1 << 53)
		if cost := -math.Log(u) / w.bytes; cost < least {
			best, least = i, cost
		}
	}
	return g.stores[best]
}

// Seed is Store.Seed: all Stores have the same.
func (g *Group) Seed() uint64 {
	for _, s := range g.stores {
		if seed := s.Seed(); seed != 0 {
			return seed
		}
	}
	return 0
}

// Put is Store.Put.
func (g *Group) Put(h uint64, key, block, body []byte) error {
	own := g.storeOf(h)
	g.removeElsewhere(own, h)
	return own.Put(h, key, block, body)
}

// PutBuffer is Store.PutBuffer, and removes the record elsewhere as Put does.
func (g *Group) PutBuffer(h uint64, key, block []byte, body *buffer.Buffer) error {
	own := g.storeOf(h)
	g.removeElsewhere(own, h)
	return own.PutBuffer(h, key, block, body)
}

// Create is Store.Create. Records under h in other Stores are removed at once.
func (g *Group) Create(h uint64, length, head int64) (*Draft, error) {
	own := g.storeOf(h)
	g.removeElsewhere(own, h)
	return own.Create(h, length, head)
}

// Find is Store.Find.
func (g *Group) Find(h uint64, key []byte, hit *Hit) bool { return g.at(h).Find(h, key, hit) }

// Peek is Store.Peek.
func (g *Group) Peek(h uint64, key []byte, hit *Hit) bool { return g.at(h).Peek(h, key, hit) }

// Holds is Store.Holds.
func (g *Group) Holds(h uint64) bool { return g.at(h).Holds(h) }

// Patch is Store.Patch.
func (g *Group) Patch(h uint64, key []byte, serial uint64, p Patch) error {
	return g.at(h).Patch(h, key, serial, p)
}

// Touch is Store.Touch.
func (g *Group) Touch(h uint64) { g.at(h).Touch(h) }

// Hits is Store.Hits.
func (g *Group) Hits(h uint64) (hits int, ok bool) { return g.at(h).Hits(h) }

// Remove is Store.Remove.
func (g *Group) Remove(h uint64) {
	own := g.storeOf(h)
	g.removeElsewhere(own, h)
	own.Remove(h)
}

// Complete is Store.Complete for all Stores together.
func (g *Group) Complete() bool {
	return !slices.ContainsFunc(g.stores, func(s *Store) bool { return !s.Complete() })
}

// Keep is Store.Keep for all Stores. An error of one does not stop the others.
func (g *Group) Keep() error { return g.all((*Store).Keep) }

// Flush is Store.Flush for all Stores.
func (g *Group) Flush() error { return g.all((*Store).Flush) }

func (g *Group) all(do func(*Store) error) error {
	errs := make([]error, 0, len(g.stores))
	for _, s := range g.stores {
		errs = append(errs, do(s))
	}
	return errors.Join(errs...)
}

// Each is Store.Each for one Store after the other. If a directory is not in use, the error is ErrOff, after all others were visited.
func (g *Group) Each(visit func(*Item) bool) error {
	stopped := false
	return g.all(func(s *Store) error {
		if stopped {
			return nil
		}
		return s.Each(func(i *Item) bool {
			stopped = !visit(i)
			return !stopped
		})
	})
}

// Err returns why directories are not in use; nil if all are.
func (g *Group) Err() error { return g.all((*Store).Err) }

// Stats returns the sums of all Stores; for IndexLoad the highest, and for Punches and WritesDirectly whether it holds for all.
func (g *Group) Stats() Stats {
	sum := g.stores[0].Stats()
	for _, s := range g.stores[1:] {
		st := s.Stats()
		plus(reflect.ValueOf(&sum).Elem(), reflect.ValueOf(&st).Elem())
	}
	return sum
}

// HitPart returns the sum over all Stores.
func (g *Group) HitPart() (sum HitPart) {
	for _, s := range g.stores {
		p := s.HitPart()
		plus(reflect.ValueOf(&sum).Elem(), reflect.ValueOf(&p).Elem())
	}
	return sum
}

// plus adds from to sum, structs of numbers and booleans.
func plus(sum, from reflect.Value) {
	switch sum.Kind() {
	case reflect.Struct:
		for i := range sum.NumField() {
			plus(sum.Field(i), from.Field(i))
		}
	case reflect.Array:
		for i := range sum.Len() {
			plus(sum.Index(i), from.Index(i))
		}
	case reflect.Float64:
		sum.SetFloat(max(sum.Float(), from.Float()))
	case reflect.Bool:
		sum.SetBool(sum.Bool() && from.Bool())
	default:
		sum.SetInt(sum.Int() + from.Int())
	}
}

// Close closes all Stores at the same time, and waits for that.
func (g *Group) Close() {
	done := make(chan struct{})
	for _, s := range g.stores {
		go func() {
			s.Close()
			done <- struct{}{}
		}()
	}
	for range g.stores {
		<-done
	}
}

// This file finds strays: records in a directory that their keys no longer belong to, since directories were added or bounds have changed.

// at returns the Store that may have a record under h: the one that h belongs to, or else one that has it from a time when it belonged there. If
// none has it, it is the one that h belongs to.
func (g *Group) at(h uint64) *Store {
	own := g.storeOf(h)
	if len(g.stores) == 1 || own.Holds(h) {
		return own
	}
	for _, s := range g.stores {
		if s != own && s.Holds(h) {
			return s
		}
	}
	return own
}

// removeElsewhere removes records under h, also ones that may be found later, from the Stores that h does not belong to.
func (g *Group) removeElsewhere(own *Store, h uint64) {
	for _, s := range g.stores {
		if s != own && (s.Holds(h) || s.fills()) {
			s.Remove(h)
		}
	}
}

// fills reports whether there may be records that Holds does not know yet.
func (s *Store) fills() bool {
	v := s.volume.Load()
	if v == nil || v.failed() || v.hidden.Load() > 0 {
		return true
	}
	return v.segments.areFilling()
}
