package admission

// settlings is how often within one generation the expected rate is read. The rate is a convex function of the keys; 16
// straight pieces follow it to a percent.
const settlings = 16

// settleEvery returns the number of unseen keys sampled between two settlings.
func (s *sample) settleEvery() int64 {
	return max(s.stride.Load()>>min(s.bits.Load(), hashBits-1), 1)
}

// pace sets the distance of the readings for a generation of so many keys.
func (s *sample) pace(keys int64) { s.stride.Store(max(keys/settlings, 1)) }

// forget drops the keys that are no longer in the window. It locks one
// shard after the other, some microseconds each.
func (s *sample) forget() {
	oldest, _ := s.serials.Held()
	bits := s.bits.Load()
	for i := range s.shards {
		s.shards[i].drop(oldest, bits)
	}
}

// settle accounts for the sightings since the last settle; expected is the filter's expected false positive ratio now.
func (s *sample) settle(expected float64) {
	wrong := s.falsePositives.Load() // before unseen, so never above it
	s.accuracy.settle(s.unseen.Load(), wrong, expected)
}

// measured returns what the sample says now.
func (s *sample) measured() Measured {
	m := Measured{
		Unseen: s.unseen.Load(), FalsePositives: s.falsePositives.Load(), FalseNegatives: s.falseNegatives.Load(),
		Bytes: s.bytes(),
	}
	s.accuracy.read(&m)
	if bits := s.bits.Load(); bits < hashBits {
		m.Share = 1 / float64(uint64(1)<<bits)
	}
	for i := range s.shards {
		keys, capacity := s.shards[i].size()
		m.Keys += keys
		m.Capacity += capacity
	}
	return m
}
