package shadow

import (
	"edgeproxy/internal/admission"
	"edgeproxy/internal/bloom"
	"edgeproxy/internal/fit"
)

// fitting is how long the generations of a window are that fits the live cache: for a
// slice of the keys, the same share of the sightings.
type fitting struct {
	length  fit.Length
	bits    int
	objects func() int64
}

// fitting returns that of a window, nil where it is fixed.
func (o Options) fitting(l fit.Length, w admission.FilterOptions, bits int) *fitting {
	if !w.Fitted {
		return nil
	}
	return &fitting{length: l, bits: bits, objects: o.Objects}
}

// sightings returns the length of a generation as of now.
func (f *fitting) sightings() int64 { return f.length.Sightings(f.objects() >> f.bits) }

// size returns the size of a filter for 1/2^bits of the keys.
func (f *fitting) size(o bloom.Options, bits int) bloom.Options {
	if f == nil {
		return scaled(o, bits)
	}
	o.Resizable, o.Capacity = true, f.length.Room(f.sightings())
	return o
}
