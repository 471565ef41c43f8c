package tunnel

import "sync"

// Set holds the open tunnels of a process. The zero Set is empty. It is safe for concurrent
// use.
type Set struct {
	ended sync.WaitGroup

	mu     sync.Mutex
	open   map[*Tunnel]struct{}
	closed bool
}

// Add takes t in and reports whether it may run: after Close none may. Who adds t removes
// it.
func (s *Set) Add(t *Tunnel) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	if s.open == nil {
		s.open = map[*Tunnel]struct{}{}
	}
	s.open[t] = struct{}{}
	s.ended.Add(1)
	return true
}

// Remove is called once for each t that Add has taken in, when nothing of it is left to do.
func (s *Set) Remove(t *Tunnel) {
	s.mu.Lock()
	delete(s.open, t)
	s.mu.Unlock()
	s.ended.Done()
}

// Len returns how many are open.
func (s *Set) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

// Close cuts all, waits until they are removed, and returns how many there were.
func (s *Set) Close() int {
	s.mu.Lock()
	s.closed = true
	open := make([]*Tunnel, 0, len(s.open))
	for t := range s.open {
		open = append(open, t)
	}
	s.mu.Unlock()
	for _, t := range open {
		t.Cut()
	}
	s.ended.Wait()
	return len(open)
}
