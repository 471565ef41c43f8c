package cache

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
)

// Options says how large a Store may be. All sizes are bytes.
type Options struct {
	// MaxBytes bounds the entries and the index of variants together, at any
	// time; at least 64 KiB. Beside it ristretto keeps a sketch of request
	// frequencies: 0.8 to 1.6 % of MaxBytes, at least 512 KiB.
	MaxBytes int64
	// MaxObjectBytes is the largest body that is stored; at most a quarter of
	// MaxBytes. Every body up to it is stored, whatever else the cache holds.
	MaxObjectBytes int64
	// MaxVariants is how many variants of one URL are held; above 0.
	MaxVariants int
	// Metrics shows the Store's counters; nil shows them nowhere.
	Metrics *Metrics
}

// Shares of MaxBytes. The window needs room for one object of any allowed size
// or nothing so large could land; what is left is the main part, always at least
// half and larger than the window.
const (
	minMaxBytes = 64 << 10
	objectShare = 4  // MaxObjectBytes is at most MaxBytes/objectShare
	windowShare = 50 // the window has at least MaxBytes/windowShare
	indexShare  = 32 // the index has at least MaxBytes/indexShare

	// Room for head and key beside the largest body, and for one URL of the
	// index; an eighth of MaxBytes where that is less.
	headAllowance = 64 << 10
	minIndexBytes = 16 << 10
	smallShare    = 8

	bytesPerChain = 1024 // of the window's table: 0.8 to 1.6 % of the window
)

type limits struct {
	maxBytes, maxObjectBytes           int64
	windowBytes, indexBytes, mainBytes int64
	maxVariants                        int
}

func (o Options) limits() (limits, error) {
	var errs []error
	if o.MaxBytes < minMaxBytes {
		errs = append(errs, fmt.Errorf("cache: MaxBytes %d: want at least %d", o.MaxBytes, minMaxBytes))
	}
	if o.MaxObjectBytes < 1 || o.MaxObjectBytes > o.MaxBytes/objectShare {
		errs = append(errs, fmt.Errorf("cache: MaxObjectBytes %d: want 1 to %d, a quarter of MaxBytes",
			o.MaxObjectBytes, o.MaxBytes/objectShare))
	}
	if o.MaxVariants < 1 {
		errs = append(errs, fmt.Errorf("cache: MaxVariants %d: want at least 1", o.MaxVariants))
	}
	l := limits{maxBytes: o.MaxBytes, maxObjectBytes: o.MaxObjectBytes, maxVariants: o.MaxVariants}
	small := o.MaxBytes / smallShare
	l.windowBytes = max(o.MaxBytes/windowShare, o.MaxObjectBytes+min(headAllowance, small))
	l.indexBytes = max(o.MaxBytes/indexShare, min(minIndexBytes, small))
	l.mainBytes = o.MaxBytes - l.windowBytes - l.indexBytes
	return l, errors.Join(errs...)
}

// Store is the memory tier. All methods but Close are safe for concurrent use.
type Store struct {
	limits limits
	books  ledger
	window *clock[*Entry]
	main   *mainPart
	index  *clock[*record]

	// mu makes the holder the one writer of window, main and index.
	mu sync.Mutex
}

// New returns an empty Store. It runs two goroutines of ristretto's until
// Close. The error names every option that is out of range.
func New(o Options) (*Store, error) {
	l, err := o.limits()
	if err != nil {
		return nil, err
	}
	s := &Store{limits: l, window: newClock[*Entry](l.windowBytes/bytesPerChain, 0), index: newClock[*record](l.indexBytes/recordOverhead, indexChances)}
	if s.main, err = newMainPart(l.mainBytes, &s.books); err != nil {
		return nil, err
	}
	if o.Metrics != nil {
		o.Metrics.store.Store(s)
	}
	return s, nil
}

// Close ends ristretto's goroutines and waits for them. Call it once, after the
// last call of any other method has returned: ristretto panics when a look-up
// meets its Close.
func (s *Store) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.main.close()
}

// Fits reports whether an entry with the head of e (all but its Body) and a
// body of bodyBytes is small enough to be stored. Nil stands for a head of
// usual size: key and header together under 64 KiB.
func (s *Store) Fits(bodyBytes int64, e *Entry) bool {
	if bodyBytes > s.limits.maxObjectBytes {
		return false
	}
	if e == nil {
		return true
	}
	return e.Cost()-int64(len(e.Body))+bodyBytes <= s.limits.windowBytes &&
		(len(e.Vary) == 0 || recordBytes(e)+variantBytes <= s.limits.indexBytes)
}

// Get returns the entry stored under name, whose hash is k. It keeps neither
// and allocates nothing, but for ristretto's sampling: 512 bytes in 64 calls.
//
// The entry stays valid for as long as the caller holds it.
func (s *Store) Get(k Key, name []byte) (*Entry, bool) {
	// Main is asked also after a hit: that is how ristretto learns of the demand
	// by which it judges the entry when its time in the window is over.
	e, landed := s.window.find(k)
	if m := s.main.find(k); !landed {
		e = m
	}
	if e == nil {
		// A replacement lands in the window before the old entry leaves main, and
		// may have done both since the first look.
		e, _ = s.window.find(k)
	}
	if e == nil || !bytes.Equal(e.Name, name) {
		return nil, false
	}
	return e, true
}

// Vary returns the names of the fields that select a variant of the URL whose
// key part is name and whose hash is url; false if no variants of it are known.
// The names are canonical and sorted, and nobody may write to them. It keeps
// no argument and allocates nothing.
func (s *Store) Vary(url Key, name []byte) ([]string, bool) {
	r, ok := s.index.find(url)
	if !ok || !bytes.Equal(r.name, name) {
		return nil, false
	}
	return r.fields, true
}
