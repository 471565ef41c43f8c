package edge

import (
	"fmt"
	"io"
	"time"

	"edgeproxy/config"
	"edgeproxy/internal/ops/admin"
	"edgeproxy/internal/ops/sealed"
)

const secretFileKey = "fleet.secret_file"

// SightingsUse is the use of the secret by which sightings are sealed, and asked for.
const SightingsUse = "sightings"

// fleetSecret reads the secret of c; the zero Secret is none. The error is a config.Errors.
func fleetSecret(c *config.Config) (sealed.Secret, error) {
	if c.Fleet.SecretFile == "" {
		return sealed.Secret{}, nil
	}
	s, err := sealed.ReadSecret(c.Fleet.SecretFile)
	if err != nil {
		return s, config.Errors{c.Fault(secretFileKey, err.Error())}
	}
	return s, nil
}

// sightings returns the filters of admission for edges with the same secret, or nil without one.
func (e *Edge) sightings(secret sealed.Secret) admin.Sightings {
	if !secret.Given() {
		return nil
	}
	return sealedSightings{e, secret}
}

// sealedSightings implements admin.Sightings.
type sealedSightings struct {
	edge   *Edge
	secret sealed.Secret
}

// Proven reports whether proof is that of the nonce.
func (s sealedSightings) Proven(nonce, proof []byte) bool {
	return s.secret.Proven(SightingsUse, nonce, proof)
}

// Send writes the filters as they are now.
func (s sealedSightings) Send(w io.Writer, nonce []byte) error {
	to, err := s.secret.Seal(w, SightingsUse, nonce)
	if err != nil {
		return err
	}
	if err := s.edge.gate.WriteState(to, s.edge.keySeed, time.Now()); err != nil {
		return fmt.Errorf("write the sightings: %w", err)
	}
	return to.Close()
}
