package cache

import (
	"sync"
	"sync/atomic"

	"edgeproxy/internal/conn/pinned"
)

// Store holds responses in memory. All methods but Close are safe for
// concurrent use.
type Store struct {
	limits limits
	books  ledger // books of the memory tier
	window *secondChance[*Object]
	main   *mainPart
	ranked *ranked // the ranking of main; nil: it has ristretto
	index  *secondChance[*record]
	stage  *stage
	pinned *pinned.Total // nil: not counted
	disk   *diskTier     // nil: there is none

	renewed *secondChance[*renewal] // renewals of records on the disk

	// guarded by mu; see share.go
	shares  map[*Object]*share // shares under each of the Objects that have the same content
	orphans []*share           // shares whose host has left

	inherited atomic.Int64 // how often a guest became a host; see Each

	// mu makes the holder the one writer of window, main, index and stage.
	mu sync.Mutex
}

// New returns an empty Store. With Ristretto it runs two goroutines of ristretto's until Close. The error names every option that is
// out of range.
func New(o Options) (*Store, error) {
	l, err := o.limits()
	if err != nil {
		return nil, err
	}
	s := &Store{
		limits: l,
		pinned: o.Pinned,
		disk:   newDiskTier(o.Disk, l.memoryBytes),
		window: newSecondChance[*Object](l.windowBytes/bytesPerChain, 0),
		index:  newSecondChance[*record](l.indexBytes/recordOverhead, indexChances),
		shares: map[*Object]*share{},

		renewed: newSecondChance[*renewal](l.renewedBytes/bytesPerChain, 0),
	}
	s.books.now, s.stage = o.Now, newStage(l.stageBytes, o.Now)
	if s.main, err = newMainPart(o, l.mainBytes, s.costLocked, s.leftLocked); err != nil {
		return nil, err
	}
	s.ranked, _ = s.main.keeper.(*ranked)
	if o.Metrics != nil {
		o.Metrics.store.Store(s)
	}
	return s, nil
}

// NewPin returns the Pin for an entry that is being made; nil if pins are not counted.
func (s *Store) NewPin() *pinned.Body { return s.pinned.Body() }

// Close ends ristretto's goroutines and waits for them. Call it once, after the
// last call of any other method has returned: ristretto panics when a look-up
// meets its Close.
func (s *Store) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.disk != nil {
		s.relistAllLocked()
	}
	s.main.close()
}
