package certs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// lookEvery is how often the files are looked at.
const lookEvery = 5 * time.Second

// Pair names the files of one certificate, PEM: the chain, leaf first, and its key.
type Pair struct{ Certificate, Key string }

// PairError says what is wrong with one pair.
type PairError struct {
	Index int  // of the pair
	Key   bool // it is about the file of the key
	Err   error
}

func (e *PairError) Error() string { return e.Err.Error() }

// Unwrap returns what is behind it.
func (e *PairError) Unwrap() error { return e.Err }

// Store holds certificates. It is safe for concurrent use.
type Store struct {
	pairs []Pair
	log   *slog.Logger
	now   func() time.Time
	guard func(step func())

	current atomic.Pointer[set]
	states  []state   // of the files that are shown, for the one who looks
	failed  []failure // of each pair, the last one that was logged

	quit    chan struct{}
	looking sync.WaitGroup
	closing sync.Once
}

// set is the certificates of one moment.
type set struct {
	first  *tls.Certificate
	byName map[string]*tls.Certificate // in lower case; *.example.com for its subdomains
	all    []*tls.Certificate
}

// state tells whether the two files of a pair have changed.
type state struct{ certificate, key fileState }

// failure is what was wrong with files in a state.
type failure struct {
	state
	why string
}

type fileState struct {
	modified time.Time
	size     int64
}

// Load reads the pairs, at least one, and says by a joined *PairError for each what is
// wrong with them.
func Load(pairs []Pair) ([]*tls.Certificate, error) {
	var problems []error
	out := make([]*tls.Certificate, len(pairs))
	for i, p := range pairs {
		c, err := load(p)
		if err != nil {
			err.Index = i
			problems = append(problems, err)
			continue
		}
		out[i] = c
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return out, nil
}

func load(p Pair) (*tls.Certificate, *PairError) {
	chain, err := readRegular(p.Certificate)
	if err != nil {
		return nil, &PairError{Err: fmt.Errorf("want a file with a certificate: %w", err)}
	}
	key, err := readRegular(p.Key)
	if err != nil {
		return nil, &PairError{Key: true, Err: fmt.Errorf("want a file with the key: %w", err)}
	}
	c, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return nil, &PairError{Err: fmt.Errorf("want a certificate and its key, in PEM: %w", err)}
	}
	return &c, nil
}

// readRegular is os.ReadFile for regular files: a named pipe would hold up all looks that come
// after, and a device has no end.
func readRegular(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	return os.ReadFile(path)
}

// New returns a Store of the pairs and looks after their files until Close. Guard runs each
// look, and returns also where that panics: the next comes all the same. Nil runs it unguarded.
// The error is that of Load.
func New(pairs []Pair, log *slog.Logger, now func() time.Time, guard func(step func())) (*Store, error) {
	if guard == nil {
		guard = func(step func()) { step() }
	}
	s := &Store{guard: guard, pairs: pairs, log: log, now: now, states: make([]state, len(pairs)), failed: make([]failure, len(pairs)), quit: make(chan struct{})}
	for i, p := range pairs {
		s.states[i] = stateOf(p) // before the files are read: a change in between is seen
	}
	all, err := Load(pairs)
	if err != nil {
		return nil, err
	}
	s.use(all)
	s.looking.Go(s.look)
	return s, nil
}

// Close ends the looking after files.
func (s *Store) Close() {
	s.closing.Do(func() { close(s.quit) })
	s.looking.Wait()
}

// Name is what a client asks for, as Find wants it.
func Name(hello *tls.ClientHelloInfo) string {
	return strings.TrimSuffix(strings.ToLower(hello.ServerName), ".")
}

// Find returns the certificate for a name, nil where none is for it. It allocates nothing.
func (s *Store) Find(name string) *tls.Certificate {
	current := s.current.Load()
	if c := current.byName[name]; c != nil {
		return c
	}
	if dot := strings.IndexByte(name, '.'); dot > 0 {
		return current.byName[wildcards+name[dot:]]
	}
	return nil
}

// First returns the certificate for clients that name nobody, and for names that none is
// for.
func (s *Store) First() *tls.Certificate { return s.current.Load().first }

// Expiry returns when the first of the certificates shown expires.
func (s *Store) Expiry() time.Time {
	var first time.Time
	for _, c := range s.current.Load().all {
		if end := c.Leaf.NotAfter; first.IsZero() || end.Before(first) {
			first = end
		}
	}
	return first
}

// wildcards begins a name that stands for all labels at its place.
const wildcards = "*"

// use makes all the certificates that are shown. Of two for a name the first counts.
func (s *Store) use(all []*tls.Certificate) {
	next := &set{first: all[0], byName: map[string]*tls.Certificate{}, all: all}
	for _, c := range all {
		for _, name := range namesOf(c.Leaf) {
			if name = strings.ToLower(name); next.byName[name] == nil {
				next.byName[name] = c
			}
		}
	}
	s.current.Store(next)
}

func namesOf(leaf *x509.Certificate) []string {
	if len(leaf.DNSNames) > 0 || leaf.Subject.CommonName == "" {
		return leaf.DNSNames
	}
	return []string{leaf.Subject.CommonName}
}

// look reads changed files.
func (s *Store) look() {
	t := time.NewTicker(lookEvery)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			s.guard(s.refresh)
		case <-s.quit:
			return
		}
	}
}

// refresh takes over what has changed. What cannot be read is tried again each time, for
// not all that is wrong shows in a file's state: its mode does not, nor a lack of descriptors.
func (s *Store) refresh() {
	next := append([]*tls.Certificate(nil), s.current.Load().all...)
	changed := false
	for i, p := range s.pairs {
		now := stateOf(p)
		if now == s.states[i] {
			s.failed[i] = failure{}
			continue
		}
		c, err := load(p)
		if err != nil {
			s.complain(i, failure{now, err.Error()})
			continue
		}
		s.states[i], s.failed[i] = now, failure{}
		next[i], changed = c, true
		s.log.Info("certificate taken over", "certificate", p.Certificate, "expires", c.Leaf.NotAfter)
		if s.now().After(c.Leaf.NotAfter) {
			s.log.Warn("the certificate has expired", "certificate", p.Certificate)
		}
	}
	if changed {
		s.use(next)
	}
}

// complain logs what is wrong with pair i, once.
func (s *Store) complain(i int, f failure) {
	if s.failed[i] == f {
		return
	}
	s.failed[i] = f
	s.log.Error("a changed certificate was not taken over; the old one stays", "certificate", s.pairs[i].Certificate, "key", s.pairs[i].Key, "error", f.why)
}

// stateOf returns what tells the contents of two files from other ones; a file that is
// not there differs from all.
func stateOf(p Pair) state {
	one := func(path string) fileState {
		info, err := os.Stat(path) // follows links, which is how clusters swap files
		if err != nil {
			return fileState{}
		}
		return fileState{modified: info.ModTime(), size: info.Size()}
	}
	return state{one(p.Certificate), one(p.Key)}
}

// Shown is one certificate that clients are shown.
type Shown struct {
	Names    []string // host names, and addresses behind them
	NotAfter time.Time
	File     string // of Pair.Certificate
}

// Shown returns all certificates, in the order of the pairs.
func (s *Store) Shown() []Shown {
	all := s.current.Load().all
	out := make([]Shown, len(all))
	for i, c := range all {
		names := slices.Clone(namesOf(c.Leaf))
		for _, a := range c.Leaf.IPAddresses {
			names = append(names, a.String())
		}
		out[i] = Shown{Names: names, NotAfter: c.Leaf.NotAfter, File: s.pairs[i].Certificate}
	}
	return out
}
