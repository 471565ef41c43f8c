package http2

import "time"

// purse pays for what a client may do now and then: it holds burst at most, and gets
// perSecond. It belongs to one goroutine.
type purse struct {
	burst, perSecond float64
	holds            float64
	at               time.Time
}

func newPurse(burst, perSecond float64) purse {
	return purse{burst: burst, perSecond: perSecond, holds: burst}
}

// get puts n into it.
func (p *purse) get(n float64) { p.holds = min(p.holds+n, p.burst) }

// pay takes 1 out and reports whether that was there.
func (p *purse) pay(t time.Time) bool {
	if !p.at.IsZero() {
		p.get(t.Sub(p.at).Seconds() * p.perSecond)
	}
	p.at = t
	if p.holds < 1 {
		return false
	}
	p.holds--
	return true
}
