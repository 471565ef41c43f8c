package cache

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/cache/evicted"
)

// model is the plain account of what both tiers must hold: of the stage exactly,
// of the memory tier which version it may still have.
type model struct {
	stageBytes int64
	staged     []*landing          // oldest first
	memory     map[string]*landing // landings under their name; main may have given one up
	want       TierStats           // expected statistics of the stage
	unasked    int64               // landings in memory that no look-up has returned
}

type landing struct {
	entry *Entry
	asked bool
}

func (m *model) bytes() (n int64) {
	for _, l := range m.staged {
		n += l.entry.weight().staged()
	}
	return n
}

func (m *model) find(name []byte) *landing {
	for _, l := range m.staged {
		if bytes.Equal(l.entry.Name, name) {
			return l
		}
	}
	return nil
}

// leave takes out what gone says, oldest first, and counts it.
func (m *model) leave(counter *int64, gone func(*Entry) bool) (n int) {
	m.staged = slices.DeleteFunc(m.staged, func(l *landing) bool {
		if !gone(l.entry) {
			return false
		}
		*counter++
		if counter == &m.want.Capacity {
			m.evicted(l)
		}
		if !l.asked && counter != &m.want.Promoted {
			m.want.NeverHit++
		}
		n++
		return true
	})
	return n
}

// evicted counts the eviction of l.
func (m *model) evicted(l *landing) {
	counts, cost := &m.want.Evicted.NeverHit, l.entry.weight().staged()
	if l.asked {
		counts = &m.want.Evicted.Hit
	}
	of := &counts[evicted.ClassOf(cost)]
	of.Objects++
	of.Bytes += cost
}

// hitPart is the part of what is staged that was hit.
func (m *model) hitPart() (p HitPart) {
	for _, l := range m.staged {
		p.Sampled++
		if l.asked {
			p.Objects++
			p.Bytes += l.entry.weight().staged()
		}
	}
	return p
}

// rivals returns what may be in memory and cannot stand beside a staged e.
func (m *model) rivals(e *Entry) (rivals []*Entry) {
	for _, l := range m.memory {
		if old := l.entry; old.Key == e.Key {
			rivals = append(rivals, old)
		}
	}
	return rivals
}

func (m *model) stage(e *Entry) {
	same := func(old *Entry) bool { return old.Key == e.Key }
	for m.bytes()+e.weight().staged() > m.stageBytes {
		i := slices.IndexFunc(m.staged, func(l *landing) bool { return !same(l.entry) })
		if i < 0 {
			m.leave(&m.want.Replaced, same)
			continue
		}
		oldest := m.staged[i].entry
		m.leave(&m.want.Capacity, func(old *Entry) bool { return old == oldest })
	}
	m.leave(&m.want.Replaced, same)
	delete(m.memory, string(e.Name))
	m.staged = append(m.staged, &landing{entry: e})
	m.want.Writes++
	m.want.WriteBytes += e.Content.Size()
}

func (m *model) store(e *Entry, why *int64) {
	m.leave(why, func(old *Entry) bool { return old.Key == e.Key })
	m.memory[string(e.Name)] = &landing{entry: e}
	m.unasked++
}

// purge returns how many staged entries went.
func (m *model) purge(url Key) int {
	for name, l := range m.memory {
		if l.entry.URL == url {
			delete(m.memory, name)
		}
	}
	return m.leave(&m.want.Purged, func(old *Entry) bool { return old.URL == url })
}

// tierRun drives a Store and the model by the same steps.
type tierRun struct {
	tb    testing.TB
	s     *Store
	m     model
	names map[string]Key
	step  uint64

	superseded int64 // held back beside what admission let in
}

const modelStageBytes = 24 << 10

func newTierRun(tb testing.TB) *tierRun {
	tb.Helper()
	return &tierRun{
		tb: tb,
		s: newStoreOf(tb, Options{
			MaxBytes: 64 << 10, MaxObjectBytes: 10 << 10, MaxVariants: 100, StageBytes: modelStageBytes,
		}),
		m:     model{stageBytes: modelStageBytes, memory: map[string]*landing{}},
		names: map[string]Key{},
	}
}

// do makes one step of three numbers: what to do, to which key, of which size.
func (r *tierRun) do(op, which, size byte) {
	r.tb.Helper()
	r.step++
	url, bodyBytes := fmt.Sprintf("/url/%d", which%32), int(size)*40
	e := plain(url, r.step, bodyBytes)
	switch which / 32 {
	case 0, 1, 2:
		e = variant(url, fmt.Sprint(which/32), bodyBytes, "Accept")
		e.Content = InMemory(body(r.step, bodyBytes))
	case 3:
		e = variant(url, "c", bodyBytes, "Cookie")
		e.Content = InMemory(body(r.step, bodyBytes))
	}
	r.names[string(e.Name)] = e.Key
	switch op % 8 {
	case 0, 1, 2:
		r.stage(e)
	case 3:
		mustPut(r.tb, r.s, e)
		r.m.store(e, &r.m.want.Replaced)
		r.mustBeIn(Memory, e)
	case 4:
		r.promote(e)
	case 5, 6:
		r.look(e)
	case 7:
		want := r.m.purge(e.URL)
		if got := r.s.Purge(e.URL, e.urlName()); got < want {
			r.tb.Errorf("step %d: Purge(%q): got %d objects, want at least the %d staged", r.step, url, got, want)
		}
	}
	r.check()
}

func (r *tierRun) stage(e *Entry) {
	r.tb.Helper()
	want := Stored
	switch {
	case e.weight().staged() > modelStageBytes:
		want = TooLarge
	case slices.ContainsFunc(r.m.rivals(e), r.inMemory):
		want = Superseded
		r.superseded++
	}
	got := r.s.PutStage(e, nil)
	if got != want {
		r.tb.Errorf("step %d: PutStage(%q): got %v, want %v", r.step, e.Name, got, want)
	}
	if got == Stored {
		r.m.stage(e)
		if r.step%2 == 0 { // half of them stay unasked for
			r.mustBeIn(Stage, e)
		}
	}
}

// inMemory reports whether the memory tier still has e, without asking for it.
func (r *tierRun) inMemory(e *Entry) bool {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return r.s.heldLocked(e.Key) != nil
}

func (r *tierRun) promote(e *Entry) {
	r.tb.Helper()
	staged := r.m.find(e.Name)
	if got := r.s.Promote(e.Key, e.Name, 0); got != (staged != nil) {
		r.tb.Errorf("step %d: Promote(%q): got %v, staged %v", r.step, e.Name, got, staged != nil)
	}
	if staged != nil {
		r.m.store(staged.entry, &r.m.want.Promoted)
		r.mustBeIn(Memory, staged.entry)
	}
}

// look compares the answer with the model's: what is staged until its turn, or
// the newest version in memory if main still has it.
func (r *tierRun) look(e *Entry) (got *Object, tier Tier) {
	r.tb.Helper()
	got, tier = findIn(r.s, e.Key, e.Name)
	staged, held := r.m.find(e.Name), r.m.memory[string(e.Name)]
	want := None
	switch {
	case staged != nil:
		staged.asked = true
		want, held = Stage, staged
	case tier == Memory && held != nil:
		if !held.asked {
			r.m.unasked--
		}
		held.asked = true
		want = Memory
	}
	if tier != want || (got != nil && !got.Content().same(held.entry.Content)) {
		r.tb.Errorf("step %d: Find(%q): got tier %v, want %v and its newest version", r.step, e.Name, tier, want)
	}
	if want == Stage && len(e.Vary) > 0 {
		if lists := listsOf(r.s, string(e.urlName())); !slices.Contains(lists, strings.Join(e.Vary, ",")) {
			r.tb.Errorf("step %d: Vary(%q): got %q, want %q among them", r.step, e.Name, lists, e.Vary)
		}
	}
	return got, tier
}

func (r *tierRun) mustBeIn(want Tier, e *Entry) {
	r.tb.Helper()
	if got, tier := r.look(e); tier != want || !got.Content().same(e.Content) {
		r.tb.Errorf("step %d: %q: got tier %v, want what has just landed in %v", r.step, e.Name, tier, want)
	}
}

func (r *tierRun) check() {
	r.tb.Helper()
	var order []string
	for _, l := range r.m.staged {
		order = append(order, string(l.entry.Name))
	}
	if got := stagedNames(r.s); !slices.Equal(got, order) {
		r.tb.Errorf("step %d: got %q staged, want %q", r.step, got, order)
	}
	want := r.m.want
	want.Objects, want.Bytes, want.MaxBytes = int64(len(order)), r.m.bytes(), modelStageBytes
	if diff := cmp.Diff(want, r.s.Stats().Stage); diff != "" {
		r.tb.Errorf("step %d: stage: (-want +got)\n%s", r.step, diff)
	}
	if got, want := r.s.HitParts().Stage, r.m.hitPart(); got != want {
		r.tb.Errorf("step %d: stage: got %+v hit, want %+v", r.step, got, want)
	}
	checkBounds(r.tb, r.s)
}

// finish purges everything and closes the books of both tiers.
func (r *tierRun) finish() {
	r.tb.Helper()
	for i := range 32 {
		url := fmt.Sprintf("/url/%d", i)
		r.m.purge(sum(url))
		r.s.Purge(sum(url), []byte(url))
	}
	r.check()
	checkBooks(r.tb, r.s, r.names)
	st := r.s.Stats()
	if st.Objects != 0 || st.IndexBytes != 0 {
		r.tb.Errorf("got %d objects and an index of %d bytes after all purges, want none", st.Objects, st.IndexBytes)
	}
	if st.NeverHit != r.m.unasked {
		r.tb.Errorf("memory: got %d never hit, want %d", st.NeverHit, r.m.unasked)
	}
}

func TestTiersAgreeWithTheModel(t *testing.T) {
	const runs = 4
	seen := map[string]int64{}
	for seed := range uint64(runs) {
		r := newTierRun(t)
		rng := rand.New(rand.NewPCG(seed, 11))
		for range 5000 {
			size := rng.IntN(100)
			if rng.IntN(20) == 0 {
				size = rng.IntN(256)
			}
			r.do(byte(rng.IntN(256)), byte(min(rng.IntN(256), rng.IntN(256))), byte(size))
			if t.Failed() {
				return
			}
		}
		if r.finish(); t.Failed() {
			return
		}
		st := r.s.Stats()
		for what, n := range map[string]int64{
			"evicted": st.Stage.Capacity, "replaced": st.Stage.Replaced, "purged": st.Stage.Purged,
			"promoted": st.Stage.Promoted, "never hit": st.Stage.NeverHit, "superseded": r.superseded, "evicted from memory": st.Capacity + st.Rejected,
		} {
			seen[what] += n
		}
	}
	// In all runs: ristretto hashes by a random seed, so one run may have few of a kind.
	for what, n := range seen {
		if n < 20*runs {
			t.Errorf("%s: got %d in %d runs, want more: it shows nothing", what, n, runs)
		}
	}
}

func FuzzTiersAgreeWithTheModel(f *testing.F) {
	f.Add([]byte{0, 1, 10, 5, 1, 0, 4, 1, 0, 5, 1, 0, 7, 1, 0})             // stage, hit, promote, hit, purge
	f.Add([]byte{0, 129, 255, 0, 130, 255, 0, 131, 255, 0, 132, 255})       // large ones push each other out
	f.Add([]byte{0, 1, 9, 0, 33, 9, 0, 97, 9, 3, 1, 9, 0, 129, 9, 7, 1, 0}) // Vary comes, changes, goes
	f.Add([]byte{3, 5, 200, 0, 5, 255, 4, 5, 0, 0, 5, 255, 0, 5, 255, 3, 5, 1})
	f.Fuzz(func(t *testing.T, steps []byte) {
		r := newTierRun(t)
		for len(steps) >= 3 && !t.Failed() && r.step < 2000 {
			r.do(steps[0], steps[1], steps[2])
			steps = steps[3:]
		}
		r.finish()
	})
}
