package edge

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/cache"
	"edgeproxy/internal/cache/statefile"
	"edgeproxy/internal/lab/shadow"
)

// buildAdmission builds the key hasher, the gate and the shadow policies. Saved sightings and
// the disk tier are valid only with the hash seed that they were written with.
func (e *Edge) buildAdmission(state *admission.State) (cache.Hasher, error) {
	seed, err := e.seed(state)
	if err != nil {
		state.Close()
		return cache.Hasher{}, err
	}
	if e.gate, err = admission.New(e.admissionOptions(seed, state), e.started); err != nil {
		return cache.Hasher{}, fmt.Errorf("admission: %w", err)
	}
	for _, problem := range e.gate.Problems() {
		e.log.Warn("sightings of the last run are used, but not as configured", "file", e.config.Admission.State, "error", problem)
	}
	if len(e.config.Admission.Shadow) > 0 {
		if e.shadow, err = shadow.New(e.shadowOptions(), e.started); err != nil {
			return cache.Hasher{}, fmt.Errorf("shadow policies: %w", err)
		}
		e.registry.MustRegister(shadow.NewCollector(e.shadow))
	}
	e.keySeed = seed
	return cache.NewHasher(seed)
}

// loadState reads the saved sightings; nil is a fresh start. An unusable file
// is only logged. A folder that cannot be written to is an error, because the
// state could not be saved later.
func (sg *storage) loadState() (*admission.State, error) {
	path := sg.config.Admission.State
	if path == "" {
		return nil, nil
	}
	if err := checkWritableDir(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("admission.state: %w", err)
	}
	state, err := admission.LoadState(path, sg.started)
	switch {
	case errors.Is(err, statefile.ErrIrregular):
		return nil, fmt.Errorf("admission.state: %w", err)
	case errors.Is(err, fs.ErrNotExist):
		sg.log.Info("no sightings of an earlier run", "file", path)
	case err != nil:
		sg.log.Warn("sightings of the last run are not used", "file", path, "error", err)
	}
	return state, nil
}

// seed returns the seed of the key hash: that of the disk tier if there is one.
func (sg *storage) seed(state *admission.State) (uint64, error) {
	if sg.purges.Keeps() {
		return sg.purges.Identity().KeySeed, nil
	}
	return newSeed(state)
}

// seedOf returns the seed of saved sightings; 0 if there are none.
func seedOf(state *admission.State) uint64 {
	if state == nil {
		return 0
	}
	return state.Seed()
}

// newSeed returns the seed of saved sightings, or a new random one. The seed is
// secret: an attacker who knows it can make keys collide.
func newSeed(state *admission.State) (uint64, error) {
	if state != nil {
		return state.Seed(), nil
	}
	var b [8]byte
	for {
		if _, err := rand.Read(b[:]); err != nil {
			return 0, fmt.Errorf("draw a hash seed: %w", err)
		}
		if seed := binary.LittleEndian.Uint64(b[:]); seed != 0 {
			return seed, nil
		}
	}
}

// shadowOptions returns options with the windows and rules of the live routes, and the size of the gated tier.
func (sg *storage) shadowOptions() shadow.Options {
	c := sg.config
	var live []admission.Rule
	for i := range c.Routes {
		if r := c.Routes[i].Admission; r.Policy.Known() {
			live = append(live, r)
		}
	}
	return shadow.Options{
		Live:           live,
		CapacityBytes:  c.GatedTierBytes(),
		MaxObjectBytes: int64(c.Cache.Memory.MaxObjectBytes),
		SecondHit:      c.Admission.SecondHit,
		Counting:       c.Admission.Counting.Window,
		Objects:        sg.gate.Objects,
		Rules:          c.Admission.Shadow,
	}
}
