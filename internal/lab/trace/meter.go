package trace

// meterStep is how much must be read between two calls of Progress, in bytes or
// requests: some hundred calls a second.
const meterStep = 1 << 20

// meter reports to Options.Progress how much is read, and counts the lines of
// Options.Limit down.
type meter struct {
	progress    func(read, total int64)
	read, total int64
	reported    int64 // read at the last call
	left        int64 // lines or requests that may still be taken
}

func newMeter(sources []source, o Options) *meter {
	m := &meter{progress: o.Progress, left: o.Limit}
	if m.left <= 0 {
		m.left = 1<<63 - 1
	}
	for _, s := range sources {
		w := s.total()
		if w < 0 {
			m.total = 0
			return m
		}
		m.total += w
	}
	return m
}

// step adds n to what is read.
func (m *meter) step(n int64) {
	m.read += n
	if m.progress != nil && m.read-m.reported >= meterStep {
		m.reported = m.read
		m.progress(m.clamped(), m.total)
	}
}

// clamped returns what is read, at most the total: a file may have grown meanwhile.
func (m *meter) clamped() int64 {
	if m.total > 0 {
		return min(m.read, m.total)
	}
	return m.read
}

// done reports that all is read, or as much as the limit allows.
func (m *meter) done() {
	if m.progress == nil {
		return
	}
	if m.total > 0 {
		m.read = m.total
	}
	m.progress(m.clamped(), m.total)
}
