package proxy

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A sync by itself waits for nobody.
func TestFewSyncsAreNotHeldUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s syncPacer
		begun, failed := now(), errors.New("failed")
		for range 10 {
			for range syncsAtOnce {
				if err := s.keep(func() error { return failed }); !errors.Is(err, failed) {
					t.Fatalf("got %v, want the error of the sync", err)
				}
			}
			if waited := now().Sub(begun); waited > 0 {
				t.Fatalf("waited %v, want nothing", waited)
			}
			time.Sleep(syncsAtOnce * syncEvery)
			begun = now()
		}
	})
}

// Requests in a row had a sync each. Now they share few, and each returns when one has ended that began after it came.
func TestManyRequestsHadASyncEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const clients, each, apart = 50, 100, 7 * time.Millisecond
		var s syncPacer
		var syncs, changed, synced atomic.Int64
		failed := errors.New("failed")
		write := func() error {
			at, n := changed.Load(), syncs.Add(1)
			time.Sleep(time.Millisecond)
			was := synced.Load()
			for was < at && !synced.CompareAndSwap(was, at) {
				was = synced.Load()
			}
			if n%7 == 0 {
				return failed
			}
			return nil
		}
		begun := now()
		var all sync.WaitGroup
		for range clients {
			all.Go(func() {
				for range each {
					came, mine := now(), changed.Add(1)
					if err := s.keep(write); err != nil && !errors.Is(err, failed) {
						t.Error(err)
					}
					if got := synced.Load(); got < mine {
						t.Errorf("synced up to change %d, want %d", got, mine)
					}
					if waited := now().Sub(came); waited > syncEvery+2*time.Millisecond {
						t.Errorf("waited %v, want at most %v and the sync", waited, syncEvery)
					}
					time.Sleep(apart)
				}
			})
		}
		all.Wait()
		most := int64(syncsAtOnce + now().Sub(begun)/syncEvery + 1)
		if got := syncs.Load(); got > most || got < 3 {
			t.Errorf("got %d syncs of %d requests in %v, want at most %d", got, clients*each, now().Sub(begun), most)
		}
	})
}

// A sync that panics leaves nobody waiting.
func TestASyncThatPanicsIsNoSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s syncPacer
		for range syncsAtOnce {
			_ = s.keep(func() error { return nil })
		}
		go func() {
			defer func() { _ = recover() }()
			_ = s.keep(func() error { panic("x") })
		}()
		synctest.Wait() // until the one above waits for its turn
		if err := s.keep(func() error { return nil }); !errors.Is(err, errNotSynced) {
			t.Errorf("got %v, want an error: nothing was synced", err)
		}
		if err := s.keep(func() error { return nil }); err != nil {
			t.Errorf("the next one: got %v", err)
		}
	})
}
