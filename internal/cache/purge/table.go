package purge

import (
	"crypto/rand"
	"encoding/binary"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/zeebo/xxh3"
)

// URL names a resource by the parts of the cache's key. Host is the canonical host with its port, Target the keyed path and
// query. The bytes belong to the caller and are not kept.
type URL struct {
	Scheme       string
	Host, Target []byte
}

// Table holds the marks of all purges. It is safe for concurrent use: checks take no lock and do not wait for purges, which
// are serialized.
type Table struct {
	identity Identity
	seed     uint64 // seed of the hashes; secret: who knows it finds URLs that share a hash

	// latest is the generation of the newest purge, published after its marks. So a reader that sees a generation sees its
	// marks. A response born while a mark is being set is older than the mark: that may purge too much, where the other
	// order could purge too little.
	latest   atomic.Uint64
	folded   atomic.Uint64
	all      atomicMark
	tags     *marks
	hostTags *marks // marks of the tags of one host
	urls     *marks
	hosts    *marks
	prefixes *prefixes

	settled atomic.Uint64 // see Settle
	crowded func(full bool)
	names   names // names of tags

	file *file // nil: not stored

	mu sync.Mutex // taken by purges: it makes them one writer; guards the fields that file names
}

// New returns an empty Table, which ends with the process: see Open. It panics if a number of o is negative or above
// 16,777,216.
func New(o Options) *Table {
	return &Table{
		seed:     random(),
		tags:     newMarks(or(o.Tags, defaultTags, "Tags")),
		hostTags: newMarks(or(o.Tags, defaultTags, "Tags")),
		urls:     newMarks(or(o.URLs, defaultURLs, "URLs")),
		hosts:    newMarks(or(o.Hosts, defaultHosts, "Hosts")),
		prefixes: newPrefixes(or(o.Prefixes, defaultPrefixes, "Prefixes")),
	}
}

// random returns an unpredictable number other than 0.
func random() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return max(1, binary.LittleEndian.Uint64(b[:]))
}

// Now returns the generation, which grows by one with each purge. The caller asks before it sends the request to the origin,
// and stores the answer with the response.
func (t *Table) Now() uint64 { return t.latest.Load() }

// All purges everything. With soft, here and below, it makes responses Stale instead of Gone. When All or another purge has
// returned, every Check knows of it. It survives the process once Keep has returned.
func (t *Table) All(soft bool) {
	t.purge(soft, change{kind: changeAll})
}

// Host purges all responses of the canonical host, port included, under any scheme.
func (t *Table) Host(host []byte, soft bool) {
	t.purge(soft, change{kind: changeHost, hash: t.hash(host)})
}

// Prefix purges the responses with the scheme and host of p and a target that begins with that of p, byte for byte. Path
// segments have no meaning here: /a is a prefix of /a/b, of /a?b and of /ab; /a/ is a prefix of /a/b only. The same purge
// also covers the URLs in also, byte for byte.
func (t *Table) Prefix(p URL, soft bool, also ...URL) {
	host := t.hash(p.Host)
	site := t.site(p.Scheme, host)
	t.purge(soft, t.urlChanges(change{kind: changePrefix, hash: site, host: host, text: p.Target}, also)...)
}

// URL purges u: every response whose key has this URL part, whatever variant. The same purge also covers the URLs in also.
func (t *Table) URL(u URL, soft bool, also ...URL) {
	t.purge(soft, t.urlChanges(t.urlChange(u), also)...)
}

// TryURL is URL, hard, unless there is little room for the marks: then it changes nothing and returns false. It never makes a
// mark fold, and leaves room for the marks of URL.
func (t *Table) TryURL(u URL, also ...URL) bool {
	changes := t.urlChanges(t.urlChange(u), also)
	t.mu.Lock()
	for _, c := range changes {
		if !t.urls.takes(c.hash) {
			t.mu.Unlock()
			if t.crowded != nil {
				t.crowded(false)
			}
			return false
		}
	}
	t.purgeLocked(false, changes)
	return true
}

func (t *Table) urlChange(u URL) change {
	return change{kind: changeURL, hash: t.url(t.site(u.Scheme, t.hash(u.Host)), u.Target)}
}

func (t *Table) urlChanges(first change, also []URL) []change {
	all := append(make([]change, 0, 1+len(also)), first)
	for _, u := range also {
		all = append(all, t.urlChange(u))
	}
	return all
}

// Tag purges the responses with the tag, a result of HashTag or HashGroup.
func (t *Table) Tag(tag uint64, soft bool) {
	t.purge(soft, change{kind: changeTag, hash: tag})
}

// HostTags purges the responses of the canonical host, port included, under any scheme, that have one of the tags. It reaches
// those of the same host that have too many tags to tell, and of no other.
func (t *Table) HostTags(host []byte, soft bool, tags ...uint64) {
	h := t.hash(host)
	changes := make([]change, 0, len(tags)+1)
	for _, tag := range append([]uint64{AnyTag}, tags...) {
		changes = append(changes, change{kind: changeHostTag, hash: hostTag(h, tag)})
	}
	t.purge(soft, changes...)
}

// Check returns the state of a response by the purges so far: born is the generation at the start of its fetch, u its URL,
// tags what AppendTag collected. It keeps and changes no argument and allocates nothing. If nothing was purged since born,
// it costs one atomic load.
//
// It may or may not see a purge in progress. It always sees an earlier one.
func (t *Table) Check(born uint64, u URL, tags []uint64) State {
	if born >= t.latest.Load() {
		return Valid
	}
	return t.check(born, u, tags)
}

// check is Check for a response born before the newest purge.
func (t *Table) check(born uint64, u URL, tags []uint64) State {
	s := t.all.load().state(born)
	if s < Gone && t.tags.after(born) {
		s = max(s, t.tagState(born, tags))
	}
	byHostTag := len(tags) > 0 && t.hostTags.after(born)
	if s == Gone || !byHostTag && !t.hosts.after(born) && !t.prefixes.after(born) && !t.urls.after(born) {
		return s
	}
	host := t.hash(u.Host)
	if byHostTag {
		s = max(s, t.hostTagState(born, host, tags))
	}
	return max(s, t.urlState(born, host, u))
}

// urlState returns the state of a response to u by the marks for its host, for prefixes and for URLs.
func (t *Table) urlState(born, host uint64, u URL) State {
	s := Valid
	site := t.site(u.Scheme, host)
	if t.hosts.after(born) {
		s = t.hosts.state(born, host)
	}
	if s < Gone && t.prefixes.after(born) {
		s = max(s, t.prefixes.state(born, site, host, u.Target))
	}
	if s < Gone && t.urls.after(born) {
		s = max(s, t.urls.state(born, t.url(site, u.Target)))
	}
	return s
}

// Stats has the numbers of a Table. It may or may not include changes made while it is read.
type Stats struct {
	// Tags, URLs, Hosts and Prefixes are the marks held; Tags has those of one host, too.
	Tags, URLs, Hosts, Prefixes int
	// Folded counts the marks that folded: since then they purge more than they were for.
	Folded uint64
}

// Stats returns the numbers of the Table.
func (t *Table) Stats() Stats {
	return Stats{
		Tags: t.tags.count() + t.hostTags.count(), URLs: t.urls.count(), Hosts: t.hosts.count(),
		Prefixes: len(*t.prefixes.sorted.Load()),
		Folded:   t.folded.Load(),
	}
}

// purge applies the changes with marks of the next generation.
func (t *Table) purge(soft bool, changes ...change) {
	t.mu.Lock()
	t.purgeLocked(soft, changes)
}

// purgeLocked is purge, and unlocks mu.
func (t *Table) purgeLocked(soft bool, changes []change) {
	next := t.latest.Load() + 1
	for _, c := range changes {
		c.mark = newMark(next, soft)
		t.apply(c)
		t.file.noteLocked(c)
	}
	t.latest.Store(next)
	share := max(t.tags.fillRatio(), t.hostTags.fillRatio(), t.urls.fillRatio(), t.hosts.fillRatio(), t.prefixes.fillRatio())
	t.mu.Unlock()
	if share >= crowdedShare && t.crowded != nil {
		t.crowded(share >= 1)
	}
}

// crowdedShare is the fill ratio of one kind of marks at which it is time to Settle. It leaves as much room again for the
// marks that come until that is done.
const crowdedShare = 0.5

// WhenCrowded makes every purge call f while there is little room for marks of some kind. Full says that there is none, so
// that the next marks fold: f may then block the purge until there is room. Call it before the first purge.
func (t *Table) WhenCrowded(f func(full bool)) { t.crowded = f }

// Settle drops all marks up to a generation. Before, the caller has checked every stored response against them, at or after
// the time the table had that generation, and has removed the purged ones. From then on a response born before that
// generation may not be stored: it is no longer known what was purged since. See Settled.
func (t *Table) Settle(generation uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if generation <= t.settled.Load() {
		return
	}
	t.file.settledLocked()
	t.settled.Store(generation) // before the marks are dropped, so that a look-up that misses one sees that
	for _, marks := range [...]*marks{t.tags, t.hostTags, t.urls, t.hosts} {
		marks.settle(generation)
	}
	t.prefixes.settle(generation)
	if t.all.load().newest() <= generation {
		t.all.set(mark{})
	}
}

// Settled returns the generation up to which marks were dropped. It only grows.
//
// To store a response, call Check and then Settled: a response born before that generation may not be stored. To look one
// up, call Settled before the look-up and again after Check. If it has grown, the response may have been removed meanwhile,
// together with the mark that Check looked for: repeat the look-up.
func (t *Table) Settled() uint64 { return t.settled.Load() }

func (t *Table) fold(marks int) { t.folded.Add(uint64(marks)) }

func (t *Table) hash(b []byte) uint64 { return xxh3.HashSeed(b, t.seed) }

// site is the hash of scheme and host.
func (t *Table) site(scheme string, host uint64) uint64 {
	return bits.RotateLeft64(xxh3.HashStringSeed(scheme, t.seed), 21) ^ host
}

// url is the hash of a whole URL.
func (t *Table) url(site uint64, target []byte) uint64 {
	return bits.RotateLeft64(site, 21) ^ t.hash(target)
}
