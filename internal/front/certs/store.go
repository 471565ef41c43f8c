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

// checkInterval is the interval between checks of the files.
const checkInterval = 5 * time.Second

// Pair has the paths of the PEM files of one certificate: the chain, leaf first, and its key.
type Pair struct{ Certificate, Key string }

// PairError is what is wrong with one pair.
type PairError struct {
	Index int  // index of the pair in the list
	Key   bool // the error is about the key file
	Err   error
}

func (e *PairError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *PairError) Unwrap() error { return e.Err }

// Store holds certificates. It is safe for concurrent use.
type Store struct {
	pairs []Pair
	log   *slog.Logger
	now   func() time.Time
	guard func(step func())

	current atomic.Pointer[set]
	states  []state   // states of the files of the current certificates; only refresh uses it after New
	failed  []failure // for each pair the last failure that was logged

	quit     chan struct{}
	watching sync.WaitGroup
	closing  sync.Once
}

// set is an immutable set of certificates.
type set struct {
	first  *tls.Certificate
	byName map[string]*tls.Certificate // certificates under their names in lower case; "*.example.com" is a wildcard
	all    []*tls.Certificate
}

// state is compared to see whether the two files of a pair have changed.
type state struct{ certificate, key fileState }

// failure is what was wrong with the files of a pair in this state.
type failure struct {
	state
	why string
}

type fileState struct {
	modified time.Time
	size     int64
}

// Load reads the pairs, at least one. The error joins a *PairError for each pair that
// is wrong.
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
		return nil, &PairError{Err: fmt.Errorf("must be a file with a certificate: %w", err)}
	}
	key, err := readRegular(p.Key)
	if err != nil {
		return nil, &PairError{Key: true, Err: fmt.Errorf("must be a file with the key: %w", err)}
	}
	c, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return nil, &PairError{Err: fmt.Errorf("must be a certificate and its key, in PEM: %w", err)}
	}
	return &c, nil
}

// readRegular is os.ReadFile for regular files only: a named pipe would block all later
// checks, and a device has no end.
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

// New returns a Store of the pairs and checks their files for changes until Close. Guard runs
// each check, and returns even if the check panics, so that the next one still runs. If guard
// is nil, checks are not guarded. The error is that of Load.
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
	s.watching.Go(s.watchFiles)
	return s, nil
}

// Close stops the checks of the files and waits for the last one.
func (s *Store) Close() {
	s.closing.Do(func() { close(s.quit) })
	s.watching.Wait()
}

// Name returns the server name that a client sent (SNI), in the form that Find wants: in
// lower case, without a dot at the end.
func Name(hello *tls.ClientHelloInfo) string {
	return strings.TrimSuffix(strings.ToLower(hello.ServerName), ".")
}

// Find returns the certificate for a name, nil if there is none. A wildcard matches one
// label. It allocates nothing.
func (s *Store) Find(name string) *tls.Certificate {
	current := s.current.Load()
	if c := current.byName[name]; c != nil {
		return c
	}
	if dot := strings.IndexByte(name, '.'); dot > 0 {
		return current.byName[wildcardLabel+name[dot:]]
	}
	return nil
}

// First returns the certificate for clients that send no server name, or one that no
// certificate has.
func (s *Store) First() *tls.Certificate { return s.current.Load().first }

// Expiry returns when the next of the current certificates expires.
func (s *Store) Expiry() time.Time {
	var first time.Time
	for _, c := range s.current.Load().all {
		if end := c.Leaf.NotAfter; first.IsZero() || end.Before(first) {
			first = end
		}
	}
	return first
}

// wildcardLabel is the first label of a wildcard name.
const wildcardLabel = "*"

// use makes all the current certificates. If two have the same name, the first one gets it.
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

// watchFiles checks the files until Close, and reloads changed ones.
func (s *Store) watchFiles() {
	t := time.NewTicker(checkInterval)
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

// refresh reloads pairs whose files have changed. A pair that cannot be loaded is tried again
// at each check, since the cause may go away without a change of the files' state: a wrong
// mode, or a lack of file descriptors.
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
			s.logFailure(i, failure{now, err.Error()})
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

// logFailure logs the failure of pair i, unless it was the last one logged for the pair.
func (s *Store) logFailure(i int, f failure) {
	if s.failed[i] == f {
		return
	}
	s.failed[i] = f
	s.log.Error("a changed certificate was not taken over; the old one stays", "certificate", s.pairs[i].Certificate, "key", s.pairs[i].Key, "error", f.why)
}

// stateOf returns the state of a pair's files, which changes with their contents. A
// file that does not exist has a state of its own.
func stateOf(p Pair) state {
	one := func(path string) fileState {
		info, err := os.Stat(path) // follows symbolic links, by which Kubernetes swaps files
		if err != nil {
			return fileState{}
		}
		return fileState{modified: info.ModTime(), size: info.Size()}
	}
	return state{one(p.Certificate), one(p.Key)}
}

// Shown is one of the current certificates.
type Shown struct {
	Names    []string // host names, then IP addresses
	NotAfter time.Time
	File     string // Pair.Certificate
}

// Shown returns all current certificates, in the order of the pairs.
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
