package model

import (
	"slices"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/lab/trace"
)

// naive is the same model said as plainly as possible, with maps and slices, to
// hold the fast one to.
type naive struct {
	s       Setting
	objects []trace.Object

	generations []map[uint32]int // newest first; keys to times
	requests    int64
	began       int64

	main     naiveMain
	stage    []uint32 // oldest first
	stageMax int64
	mainMax  int64
}

type naiveMain interface {
	hit(i uint32) bool
	store(i uint32)
}

func newNaive(s Setting, objects []trace.Object) *naive {
	n := &naive{s: s, objects: objects, stageMax: s.StageBytes, mainMax: s.CapacityBytes - s.StageBytes}
	n.generations = []map[uint32]int{{}}
	size := func(i uint32) int64 { return max(objects[i].Size, 1) }
	switch s.Eviction {
	case S3FIFO:
		n.main = &naiveS3{size: size, maxBytes: n.mainMax, uses: map[uint32]int{}}
	case SIEVE:
		n.main = &naiveSieve{size: size, maxBytes: n.mainMax, used: map[uint32]bool{}}
	case GDSF:
		n.main = &naiveGDSF{size: size, maxBytes: n.mainMax, uses: map[uint32]float64{}, priority: map[uint32]float64{}}
	default:
		n.main = &naiveLRU{size: size, maxBytes: n.mainMax}
	}
	return n
}

func (n *naive) size(i uint32) int64 { return max(n.objects[i].Size, 1) }

func (n *naive) request(a trace.Access) Outcome {
	o, admit := n.lookUp(a)
	if o == missed {
		return n.fill(a, admit)
	}
	return o
}

func (n *naive) lookUp(a trace.Access) (o Outcome, admit bool) {
	i := a.Object
	admit = n.admits(a)
	if n.main.hit(i) {
		return Hit, admit
	}
	at := slices.Index(n.stage, i)
	switch {
	case at < 0:
		return missed, admit
	case !admit && n.s.Policy != admission.SecondHit:
		return StageHit, admit
	}
	n.stage = slices.Delete(n.stage, at, at+1)
	n.main.store(i)
	return Promoted, admit
}

func (n *naive) fill(a trace.Access, admit bool) Outcome {
	i := a.Object
	switch largest := n.s.MaxObjectBytes; {
	case a.Head:
		return HeadMiss
	case n.objects[i].Size > n.mainMax, largest > 0 && n.objects[i].Size > largest:
		return TooLarge
	case admit:
		n.main.store(i)
		return Stored
	case n.stageMax == 0 || n.size(i) > n.stageMax || n.s.Policy == admission.Never:
		return HeldBack
	}
	for total(n.stage, n.size)+n.size(i) > n.stageMax {
		n.stage = n.stage[1:]
	}
	n.stage = append(n.stage, i)
	return Staged
}

func total(of []uint32, size func(uint32) int64) (n int64) {
	for _, i := range of {
		n += size(i)
	}
	return n
}

func (n *naive) admits(a trace.Access) bool {
	more := n.s.MoreThan
	switch n.s.Policy {
	case admission.Always:
		return true
	case admission.Never:
		return false
	case admission.SecondHit:
		more = 1
	default:
	}
	if n.began == 0 {
		n.began = a.At
	}
	for n.s.RotateEvery > 0 && a.At-n.began >= int64(n.s.RotateEvery) {
		n.rotate(n.began + int64(n.s.RotateEvery))
	}
	n.generations[0][a.Object]++
	n.requests++
	times := 0
	for _, g := range n.generations {
		times += g[a.Object]
	}
	if n.requests == n.s.RotateRequests || int64(len(n.generations[0])) == n.s.RotateKeys {
		n.rotate(a.At)
	}
	return times > more
}

func (n *naive) rotate(now int64) {
	n.generations = slices.Insert(n.generations, 0, map[uint32]int{})
	n.generations = n.generations[:min(len(n.generations), n.s.Generations)]
	n.requests, n.began = 0, now
}

type naiveLRU struct {
	size     func(uint32) int64
	maxBytes int64
	held     []uint32 // least recently used first
}

func (l *naiveLRU) hit(i uint32) bool {
	at := slices.Index(l.held, i)
	if at < 0 {
		return false
	}
	l.held = append(slices.Delete(l.held, at, at+1), i)
	return true
}

func (l *naiveLRU) store(i uint32) {
	for total(l.held, l.size)+l.size(i) > l.maxBytes {
		l.held = l.held[1:]
	}
	l.held = append(l.held, i)
}

// naiveSieve has the oldest first, and the hand as an index.
type naiveSieve struct {
	size     func(uint32) int64
	maxBytes int64
	held     []uint32
	used     map[uint32]bool
	hand     int
}

func (s *naiveSieve) hit(i uint32) bool {
	if !slices.Contains(s.held, i) {
		return false
	}
	s.used[i] = true
	return true
}

func (s *naiveSieve) store(i uint32) {
	for total(s.held, s.size)+s.size(i) > s.maxBytes {
		if s.hand >= len(s.held) {
			s.hand = 0
		}
		at := s.held[s.hand]
		if s.used[at] {
			s.used[at] = false
			s.hand++
		} else {
			s.held = slices.Delete(s.held, s.hand, s.hand+1)
		}
		if s.hand >= len(s.held) {
			s.hand = 0
		}
	}
	s.used[i] = false
	s.held = append(s.held, i)
}

// naiveGDSF looks at all that it holds.
type naiveGDSF struct {
	size           func(uint32) int64
	maxBytes       int64
	held           []uint32
	uses, priority map[uint32]float64
	clock          float64
}

func (g *naiveGDSF) use(i uint32) {
	g.uses[i]++
	g.priority[i] = g.clock + g.uses[i]/float64(g.size(i))
}

func (g *naiveGDSF) hit(i uint32) bool {
	if !slices.Contains(g.held, i) {
		return false
	}
	g.use(i)
	return true
}

func (g *naiveGDSF) store(i uint32) {
	for total(g.held, g.size)+g.size(i) > g.maxBytes {
		least := 0
		for at := range g.held {
			if g.priority[g.held[at]] < g.priority[g.held[least]] {
				least = at
			}
		}
		g.clock = g.priority[g.held[least]]
		g.held = slices.Delete(g.held, least, least+1)
	}
	g.uses[i] = 0
	g.use(i)
	g.held = append(g.held, i)
}

// naiveS3 follows the paper's algorithm line by line; oldest first in all
// queues.
type naiveS3 struct {
	size                func(uint32) int64
	maxBytes            int64
	small, large, ghost []uint32
	uses                map[uint32]int
}

func (s *naiveS3) hit(i uint32) bool {
	if !slices.Contains(s.small, i) && !slices.Contains(s.large, i) {
		return false
	}
	s.uses[i] = min(s.uses[i]+1, 3)
	return true
}

func (s *naiveS3) store(i uint32) {
	at := slices.Index(s.ghost, i)
	if at >= 0 {
		s.ghost = slices.Delete(s.ghost, at, at+1)
	}
	for total(s.small, s.size)+total(s.large, s.size)+s.size(i) > s.maxBytes {
		if total(s.small, s.size) >= s.maxBytes/10 && len(s.small) > 0 || len(s.large) == 0 {
			s.evictSmall()
		} else {
			s.evictLarge()
		}
	}
	s.uses[i] = 0
	if at >= 0 || s.size(i) > s.maxBytes/10 {
		s.large = append(s.large, i)
	} else {
		s.small = append(s.small, i)
	}
}

func (s *naiveS3) evictSmall() {
	for len(s.small) > 0 {
		tail := s.small[0]
		s.small = s.small[1:]
		if s.uses[tail] <= 1 {
			s.forget(tail)
			return
		}
		s.uses[tail] = 0
		s.large = append(s.large, tail)
	}
}

func (s *naiveS3) forget(i uint32) {
	s.ghost = append(s.ghost, i)
	for total(s.ghost, s.size) > s.maxBytes-s.maxBytes/10 {
		s.ghost = s.ghost[1:]
	}
}

func (s *naiveS3) evictLarge() {
	for len(s.large) > 0 {
		tail := s.large[0]
		s.large = s.large[1:]
		if s.uses[tail] == 0 {
			return
		}
		s.uses[tail]--
		s.large = append(s.large, tail)
	}
}
