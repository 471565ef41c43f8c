package acme

import (
	"context"
	"crypto/tls"
	"slices"
	"strings"
	"sync"

	"github.com/mholt/acmez/v3"
	"github.com/mholt/acmez/v3/acme"
)

// Protocol is the ALPN protocol of a tls-alpn-01 handshake (RFC 8737).
const Protocol = acmez.ACMETLS1Protocol

// challenges are the pending challenges, which the authority has not validated yet. It is
// an acmez.Solver, and safe for concurrent use.
type challenges struct {
	mu      sync.RWMutex                // guards what follows
	byName  map[string]*tls.Certificate // for tls-alpn-01
	byToken map[string]string           // key authorizations, for http-01
}

// Present implements acmez.Solver.
func (c *challenges) Present(_ context.Context, a acme.Challenge) error {
	var shown *tls.Certificate
	if a.Type == acme.ChallengeTypeTLSALPN01 {
		var err error
		if shown, err = acmez.TLSALPN01ChallengeCert(a); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byName == nil {
		c.byName, c.byToken = map[string]*tls.Certificate{}, map[string]string{}
	}
	if shown != nil {
		c.byName[a.Identifier.Value] = shown
	} else {
		c.byToken[a.Token] = a.KeyAuthorization
	}
	return nil
}

// CleanUp implements acmez.Solver.
func (c *challenges) CleanUp(_ context.Context, a acme.Challenge) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a.Type == acme.ChallengeTypeTLSALPN01 {
		delete(c.byName, a.Identifier.Value)
	} else {
		delete(c.byToken, a.Token)
	}
	return nil
}

// Challenge returns the certificate for a tls-alpn-01 handshake, nil for any other
// handshake and if there is no such challenge.
func (m *Manager) Challenge(hello *tls.ClientHelloInfo) *tls.Certificate {
	if !slices.Equal(hello.SupportedProtos, []string{Protocol}) {
		return nil
	}
	c := &m.issuer.challenges
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.byName[strings.ToLower(hello.ServerName)]
}

// Answer returns the body for a request of /.well-known/acme-challenge/ and this token,
// "" if there is no such challenge (RFC 8555 section 8.3).
func (m *Manager) Answer(token []byte) string {
	c := &m.issuer.challenges
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.byToken[string(token)]
}
