package proxy

import (
	"bytes"
)

// ChallengePath is what the targets begin with by which an authority sees whose a name is
// (RFC 8555 section 8.3); the token follows.
const ChallengePath = "/.well-known/acme-challenge/"

var challengePath = []byte(ChallengePath)

// answeredBeforeLookup reports whether x has its answer before anything is looked up for it.
func (p *Proxy) answeredBeforeLookup(x *exchange) bool {
	return x.status != 0 || p.Challenge != nil && p.challenged(x)
}

// challenged answers an authority that looks whether the name is ours, and reports whether
// x is that. It comes before the routes: a name may need its certificate first. Scheme and
// host do not matter, for nobody guesses a token.
func (p *Proxy) challenged(x *exchange) bool {
	token, ok := bytes.CutPrefix(x.target.Path, challengePath)
	if !ok || !x.asks.get && !x.asks.head {
		return false
	}
	if x.challenge = p.Challenge(token); x.challenge == "" {
		return false
	}
	x.answerText(statusOK, resultPass)
	return true
}
