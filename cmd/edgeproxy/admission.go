package main

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"edgeproxy/config"
	"edgeproxy/internal/admission"
	"edgeproxy/internal/cache"
	"edgeproxy/internal/shadow"
	"edgeproxy/internal/statefile"
)

// buildAdmission makes what knows the keys: their hash, the gate, and the shadow
// policies. The hash, the sightings of a start before and what is on the disk belong together.
func (e *edge) buildAdmission(state *admission.State) (cache.Hasher, error) {
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
	return cache.NewHasher(seed)
}

// loadState reads the file of the sightings; nil is a fresh start. A file that
// cannot be used is warned of, a place that cannot be written is an error: it
// would be found out at the end of the run.
func (e *edge) loadState() (*admission.State, error) {
	path := e.config.Admission.State
	if path == "" {
		return nil, nil
	}
	if err := checkWritableDir(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("admission.state: %w", err)
	}
	state, err := admission.LoadState(path, e.started)
	switch {
	case errors.Is(err, statefile.ErrIrregular):
		return nil, fmt.Errorf("admission.state: %w", err)
	case errors.Is(err, fs.ErrNotExist):
		e.log.Info("no sightings of an earlier run", "file", path)
	case err != nil:
		e.log.Warn("sightings of the last run are not used", "file", path, "error", err)
	}
	return state, nil
}

// seed returns the seed of the hash of keys: that of what is on the disk where there is one.
func (e *edge) seed(state *admission.State) (uint64, error) {
	if e.purges.Keeps() {
		return e.purges.Identity().KeySeed, nil
	}
	return newSeed(state)
}

// seedOf returns the seed that sightings were saved under; 0 where there are none.
func seedOf(state *admission.State) uint64 {
	if state == nil {
		return 0
	}
	return state.Seed()
}

// newSeed returns the seed that the sightings were saved under, or a new one:
// secret, for an attacker that knows it can make keys collide.
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

// shadowOptions has the live windows, and the memory tier that admission gates.
func (e *edge) shadowOptions() shadow.Options {
	c := e.config
	o := shadow.Options{
		CapacityBytes:  gatedTierBytes(c),
		MaxObjectBytes: int64(c.Cache.Memory.MaxObjectBytes),
		SecondHit:      *window(c.Admission.SecondHit),
		Counting:       *window(c.Admission.Counting.Window),
		Objects:        e.gate.Objects,
	}
	for _, r := range c.Admission.Shadow {
		o.Rules = append(o.Rules, mustRule(r))
	}
	return o
}

// mustRule translates a rule that the configuration has checked.
func mustRule(r config.Rule) admission.Rule {
	rule, err := ruleOf(r)
	if err != nil {
		panic(err)
	}
	return rule
}
