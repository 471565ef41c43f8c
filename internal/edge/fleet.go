package edge

import (
	"fmt"
	"io"
	"time"

	"edgeproxy/config"
	"edgeproxy/internal/ops/sealed"
)

const secretFileKey = "fleet.secret_file"

// SightingsUse is what sightings are sealed for, which who asks for them names as well.
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

// sendSightings returns what writes the filters of admission for an edge with the same secret, or nil without one.
func (e *Edge) sendSightings(secret sealed.Secret) func(w io.Writer, nonce []byte) error {
	if !secret.Given() {
		return nil
	}
	return func(w io.Writer, nonce []byte) error {
		to, err := secret.Seal(w, SightingsUse, nonce)
		if err != nil {
			return err
		}
		if err := e.gate.WriteState(to, e.keySeed, time.Now()); err != nil {
			return fmt.Errorf("write the sightings: %w", err)
		}
		return to.Close()
	}
}
