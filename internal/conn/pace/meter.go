package pace

import "time"

// Rate is the least that a client has to send or to take while the server waits for it: Bytes in
// each period Over, which is above 0. The zero Rate asks for nothing.
type Rate struct {
	Bytes int64
	Over  time.Duration
}

// Meter holds one client to a Rate. Only the time in which the server waited for the client counts,
// and not a wait for an origin. It belongs to one goroutine.
type Meter struct {
	rate   Rate
	bytes  int64 // in the period that has begun
	waited time.Duration
}

// NewMeter returns a Meter whose first period begins.
func NewMeter(r Rate) Meter { return Meter{rate: r} }

// Left returns how much longer the client may be waited for in this period, at least 0.
// Without a Rate ok is false.
func (m *Meter) Left() (left time.Duration, ok bool) {
	return max(m.rate.Over-m.waited, 0), m.rate.Bytes > 0
}

// Lacks returns how many bytes are still missing in this period, above 0.
func (m *Meter) Lacks() int64 { return m.rate.Bytes - m.bytes }

// Add notes that n bytes have come or gone in the time waited, and reports whether the
// client is too slow: the period is over and bytes are missing. Once none are missing, the next
// period begins.
func (m *Meter) Add(n int, waited time.Duration) (slow bool) {
	m.bytes += int64(n)
	m.waited += waited
	if m.bytes >= m.rate.Bytes {
		m.bytes, m.waited = 0, 0
		return false
	}
	return m.waited >= m.rate.Over
}
