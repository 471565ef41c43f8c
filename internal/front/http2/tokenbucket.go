package http2

import "time"

// tokenBucket bounds the rate of what a client does. It holds at most burst tokens, and gets perSecond of them
// a second. It belongs to one goroutine.
type tokenBucket struct {
	burst, perSecond float64
	tokens           float64
	at               time.Time
}

func newTokenBucket(burst, perSecond float64) tokenBucket {
	return tokenBucket{burst: burst, perSecond: perSecond, tokens: burst}
}

// put adds n tokens.
func (p *tokenBucket) put(n float64) { p.tokens = min(p.tokens+n, p.burst) }

// take takes one token and reports whether there was one.
func (p *tokenBucket) take(t time.Time) bool {
	if !p.at.IsZero() {
		p.put(t.Sub(p.at).Seconds() * p.perSecond)
	}
	p.at = t
	if p.tokens < 1 {
		return false
	}
	p.tokens--
	return true
}
