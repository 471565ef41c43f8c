package model

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"edgeproxy/internal/admission/fit"
	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/bloom"
)

// Eviction is how the main part of the cache makes room.
type Eviction string

// The evictions. The first ones are the proxy's own memory tier, with its overhead for each entry. The others are exact models.
const (
	SizeAware         Eviction = "size-aware"           // weighs uses, recency and size, and newcomers compete
	SizeAwareForHits  Eviction = "size-aware-for-hits"  // the same with cache.memory.optimise: hits
	SizeAwareForBytes Eviction = "size-aware-for-bytes" // and with bytes
	Recency           Eviction = "recency"              // what was not used for the longest time goes first
	Ristretto         Eviction = "ristretto"

	LRU    Eviction = "lru"    // least recently used goes first
	S3FIFO Eviction = "s3fifo" // three FIFO queues; Yang et al., SOSP 2023
	SIEVE  Eviction = "sieve"  // one queue and a hand; Zhang et al., NSDI 2024
	GDSF   Eviction = "gdsf"   // GreedyDual-Size-Frequency; Cherkasova, 1998

	// Clairvoyant knows the future: a bound of hits to compare with, that no cache can have. It decides itself what it stores, so the policy is
	// always, and there is no stage. It is of one tier, so there is no disk. See Input.Future.
	Clairvoyant Eviction = "clairvoyant"
)

// Default is the eviction that the proxy has unless it is told otherwise: the default of cache.memory.eviction.
const Default = SizeAware

// Evictions returns all evictions.
func Evictions() []Eviction {
	return []Eviction{SizeAware, SizeAwareForHits, SizeAwareForBytes, Recency, Ristretto, LRU, S3FIFO, SIEVE, GDSF, Clairvoyant}
}

// EvictionNames returns the names of all evictions.
func EvictionNames() (out []string) {
	for _, e := range Evictions() {
		out = append(out, string(e))
	}
	return out
}

// OneOfEvictions names them, for a message that says what is wanted.
func OneOfEvictions() string { return policy.OneOf(EvictionNames()) }

// OfTheProxy reports whether the eviction is one that the proxy has. The others are exact models.
func (e Eviction) OfTheProxy() bool {
	return slices.Contains([]Eviction{SizeAware, SizeAwareForHits, SizeAwareForBytes, Recency, Ristretto}, e)
}

// stageShare bounds the stage: at most half of the capacity.
const stageShare = 2

// Setting is one cache to try: a policy with its window, and a size. It is a
// plain value; New checks it.
type Setting struct {
	policy.Rule

	// Generations is how many generations the window has, 2 to 4. It, the rotations and the filter's size matter only to policies
	// that remember sightings.
	Generations int

	// The window is rotated when any of these is reached, whichever comes first; 0 is never. RotateEvery uses the times of the
	// requests, RotateRequests counts requests, RotateKeys distinct keys in the newest generation. If all three are 0 the memory
	// never forgets, for Exact only.
	RotateEvery    time.Duration
	RotateRequests int64
	RotateKeys     int64

	// Fitted fits the length of a generation to what the cache holds, like the proxy's window under auto; RotateRequests and
	// RotateKeys must be 0 then. Length is the length in place of the proxy's, to try others; zero is the proxy's.
	Fitted bool
	Length fit.Length

	// FalsePositiveRate is that of the whole window when every generation is
	// full, within (0, 1). A generation is sized for RotateKeys or RotateRequests
	// or for all objects, whichever is least, so that it is never overfull.
	FalsePositiveRate float64

	// Exact keeps sightings in sets instead of filters.
	Exact bool

	// CapacityBytes bounds the bytes held, StageBytes the part of it for the stage; 0 is no stage, at most half of the capacity.
	CapacityBytes, StageBytes int64

	// DiskBytes bounds the records of a disk behind the capacity, which is the memory then; 0 is no disk. DiskObjectBytes is the
	// largest object that is stored on it; 0 is a quarter of it, which is the maximum.
	DiskBytes, DiskObjectBytes int64

	// DiskEviction is what the disk keeps; the zero value is what the proxy does.
	DiskEviction DiskEviction

	// MaxObjectBytes is the largest object that is stored, in memory if there is a disk; 0 is all that fits the main part. With
	// an eviction of the proxy it is at most a quarter of the main part, which 0 means then; the capacity is at least 64 KiB.
	MaxObjectBytes int64

	Eviction Eviction
}

// Validate returns nil or every fault at once, each a *bloom.OptionError.
func (s Setting) Validate() error {
	var errs []error
	wrong := func(option string, value any, want string) {
		errs = append(errs, &bloom.OptionError{Option: option, Value: value, Want: want})
	}
	s.checkSizes(wrong)
	if err := s.Check(); err != nil {
		errs = append(errs, err)
	}
	if s.Policy.Known() && s.Policy.Remembers() {
		s.checkWindow(wrong)
	}
	return errors.Join(errs...)
}

// wrongFunc reports one fault.
type wrongFunc = func(option string, value any, want string)

func (s Setting) checkSizes(wrong wrongFunc) {
	if s.CapacityBytes <= 0 {
		wrong("capacity", s.CapacityBytes, "a number of bytes above 0")
	}
	if s.StageBytes < 0 || s.StageBytes > s.CapacityBytes/stageShare {
		wrong("stage", s.StageBytes, "0 bytes, or up to half of the capacity")
	}
	s.checkDisk(wrong)
	if s.MaxObjectBytes < 0 {
		wrong("max_object", s.MaxObjectBytes, "a number of bytes, or 0 for what fits")
	}
	switch {
	case s.Eviction.OfTheProxy():
		s.checkTier(wrong)
	case s.Eviction == Clairvoyant:
		s.checkClairvoyant(wrong)
	case !slices.Contains(Evictions(), s.Eviction):
		wrong("eviction", fmt.Sprintf("%q", string(s.Eviction)), OneOfEvictions())
	}
}

func (s Setting) checkDisk(wrong wrongFunc) {
	if s.DiskBytes != 0 && s.DiskBytes < minDiskBytes {
		wrong("disk", inBytes(s.DiskBytes), "at least "+inBytes(minDiskBytes)+", or 0 for none")
	}
	if s.DiskObjectBytes < 0 {
		wrong("disk_object", s.DiskObjectBytes, "a number of bytes, or 0 for a quarter of the disk")
	}
	if !slices.Contains(DiskEvictions(), s.DiskEviction) {
		wrong("disk_eviction", fmt.Sprintf("%q", string(s.DiskEviction)), "nothing, fifo, hits, worth or log-worth")
	}
}

// checkTier reports settings that the proxy's own tier does not support.
func (s Setting) checkTier(wrong wrongFunc) {
	if s.CapacityBytes > 0 && s.CapacityBytes < MinTierBytes {
		wrong("capacity", inBytes(s.CapacityBytes), "at least "+inBytes(MinTierBytes)+" under "+string(s.Eviction))
	}
	if most := (s.CapacityBytes - s.StageBytes) / objectShare; s.MaxObjectBytes > most && most > 0 {
		wrong("max_object", inBytes(s.MaxObjectBytes), "at most "+inBytes(most)+" under "+string(s.Eviction)+", a quarter of the capacity without the stage")
	}
}

// checkClairvoyant reports settings that would not matter.
func (s Setting) checkClairvoyant(wrong wrongFunc) {
	if s.Policy != policy.Always {
		wrong("policy", s.Policy, "always under clairvoyant, which decides itself what it stores")
	}
	if s.StageBytes > 0 {
		wrong("stage", inBytes(s.StageBytes), "0 under clairvoyant, which decides itself what it stores")
	}
	if s.DiskBytes > 0 {
		wrong("disk", inBytes(s.DiskBytes), "0 under clairvoyant, which is of one tier")
	}
}

// inBytes formats a size with its unit.
func inBytes(n int64) string { return fmt.Sprintf("%d bytes", n) }

func (s Setting) checkWindow(wrong wrongFunc) {
	s.checkRotation(wrong)
	if s.Exact {
		return
	}
	if !s.rotates() {
		wrong("rotation", "none", "a time, a number of requests or of keys; only exact sets may never forget")
	}
	if !(s.FalsePositiveRate > 0 && s.FalsePositiveRate < 1) {
		wrong("false_positive_rate", s.FalsePositiveRate, "a ratio above 0 and below 1")
		return
	}
	// A rate that the layout cannot keep, whatever the number of keys.
	o := bloom.Options{Generations: s.Generations, Capacity: 1, FalsePositiveRate: s.FalsePositiveRate}
	if fault, ok := errors.AsType[*bloom.OptionError](o.Validate(filterLayout(s.Policy))); ok && fault.Option == "false_positive_rate" {
		wrong(fault.Option, fault.Value, fault.Want)
	}
}

func (s Setting) checkRotation(wrong wrongFunc) {
	if s.RotateEvery < 0 {
		wrong("rotate_every", s.RotateEvery, "a duration, or 0 for never")
	}
	if s.RotateRequests < 0 {
		wrong("rotate_requests", s.RotateRequests, "a number of requests, or 0 for never")
	}
	if s.RotateKeys < 0 {
		wrong("rotate_keys", s.RotateKeys, "a number of keys, or 0 for never")
	}
	if s.Fitted && (s.RotateRequests > 0 || s.RotateKeys > 0) {
		wrong("rotation", "fitted", "without a number of requests or keys beside it")
	}
	if s.rotates() && (s.Generations < bloom.MinGenerations || s.Generations > bloom.MaxGenerations) {
		wrong("generations", s.Generations, fmt.Sprintf("%d to %d", bloom.MinGenerations, bloom.MaxGenerations))
	}
}

// rotates reports whether the window ever forgets.
func (s Setting) rotates() bool {
	return s.Fitted || s.RotateEvery > 0 || s.RotateRequests > 0 || s.RotateKeys > 0
}
