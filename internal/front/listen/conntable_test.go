package listen

import (
	"net"
	"sync"
	"testing"
)

// TestARollFindsWhoIsOnIt: also where all share one slot, and while others come and leave.
func TestARollFindsWhoIsOnIt(t *testing.T) {
	for _, connections := range []int{1, 100, 1 << 20} {
		r := newConnTable(connections)
		var mu sync.Mutex
		var all sync.WaitGroup
		change := func(by func(*limitedConn), m *limitedConn) {
			mu.Lock()
			defer mu.Unlock()
			by(m)
		}
		for range 4 {
			all.Go(func() {
				for range 200 {
					var mine [3]*limitedConn
					for i := range mine {
						tcp := &net.TCPConn{}
						mine[i] = &limitedConn{conn: tcp, tcp: tcp}
						change(r.add, mine[i])
					}
					for _, i := range []int{1, 0, 2} {
						if got := r.find(mine[i].conn); got != mine[i] {
							t.Errorf("%d: got %p, want %p", connections, got, mine[i])
						}
						change(r.remove, mine[i])
						change(r.remove, mine[i])
						if got := r.find(mine[i].conn); got != nil {
							t.Errorf("%d: got %p, which has left", connections, got)
						}
					}
				}
			})
		}
		all.Wait()
		for i := range r.slots {
			if r.slots[i].Load() != nil {
				t.Errorf("%d: slot %d is not empty", connections, i)
			}
		}
	}
}
