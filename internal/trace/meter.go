package trace

// meterStep is how much must be read between two calls of Progress, in bytes or
// requests: some hundred calls a second.
const meterStep = 1 << 20

// meter tells Options.Progress how far the reading is, and counts the lines down
// to Options.Limit.
type meter struct {
	progress    func(read, total int64)
	read, total int64
	told        int64 // read at the last call
	left        int64 // lines or requests that may still be taken
}

func newMeter(sources []source, o Options) *meter {
	m := &meter{progress: o.Progress, left: o.Limit}
	if m.left <= 0 {
		m.left = 1<<63 - 1
	}
	for _, s := range sources {
		w := s.weight()
		if w < 0 {
			m.total = 0
			return m
		}
		m.total += w
	}
	return m
}

// step says that n more are read.
func (m *meter) step(n int64) {
	m.read += n
	if m.progress != nil && m.read-m.told >= meterStep {
		m.told = m.read
		m.progress(m.clamped(), m.total)
	}
}

// clamped keeps a file that grew while it was read from showing over 100 %.
func (m *meter) clamped() int64 {
	if m.total > 0 {
		return min(m.read, m.total)
	}
	return m.read
}

// done says that all is read, or as much of it as the limit allows.
func (m *meter) done() {
	if m.progress == nil {
		return
	}
	if m.total > 0 {
		m.read = m.total
	}
	m.progress(m.clamped(), m.total)
}
