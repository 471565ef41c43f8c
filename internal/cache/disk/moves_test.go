package disk

import (
	"sync"
	"testing"
)

// A look-up that read the index just before a record moved to another segment found nothing at the old place. So what is asked for most often was
// fetched anew now and then.
func TestARecordIsFoundWhileItMoves(t *testing.T) {
	const hot, moves = 50, 500
	s := open(t, Options{Path: quickDir(t), MaxBytes: MinBytes, MeanObjectBytes: 500})
	for n := range hot {
		store(t, s, n, 1, 1000)
	}
	settle(t, s)
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			var h Hit
			defer h.Close()
			for n := 0; ; n = (n + 1) % hot {
				select {
				case <-stop:
					return
				default:
				}
				if !s.Find(hashOf(keyOf(n)), keyOf(n), &h) {
					t.Errorf("key %d: not found after %d moves", n, s.Stats().Rewrites)
					return
				}
			}
		})
	}
	for n := 1000; s.Stats().Rewrites < moves; n++ {
		store(t, s, n, 1, 1000)
		if n%100 == 0 {
			settle(t, s)
			for n := range hot {
				s.Touch(hashOf(keyOf(n)))
			}
		}
	}
	close(stop)
	readers.Wait()
}
