package shadow

import (
	"edgeproxy/internal/admission"
	"edgeproxy/internal/admission/fit"
	"edgeproxy/internal/bloom"
)

// fitting computes the length of the generations of a window that is fitted to the live
// cache, scaled to the slice.
type fitting struct {
	length  fit.Length
	bits    int
	objects func() int64
}

// fitting returns the fitting of a window, nil if the window is fixed.
func (o Options) fitting(l fit.Length, w admission.FilterOptions, bits int) *fitting {
	if !w.Fitted {
		return nil
	}
	return &fitting{length: l, bits: bits, objects: o.Objects}
}

// sightings returns the current length of a generation.
func (f *fitting) sightings() int64 { return f.length.Sightings(f.objects() >> f.bits) }

// size returns the size of a filter for 1/2^bits of the keys.
func (f *fitting) size(o bloom.Options, bits int) bloom.Options {
	if f == nil {
		return scaledOptions(o, bits)
	}
	o.Resizable, o.Capacity = true, f.length.Room(f.sightings())
	return o
}
