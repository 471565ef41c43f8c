package fit

import (
	"encoding/binary"
	"errors"
	"math"
)

// ErrState is a saved state that no Fit has written.
var ErrState = errors.New("not the state of a fit")

// stateBytes is the length of a state: mean and number of what was admitted, then of
// what was storable, as IEEE 754 of 64 bits, little endian.
const stateBytes = 4 * 8

// AppendBinary appends what is known of the sizes; the bytes of the tier are not in it.
// The typical size is not either: where it goes on, it begins at the mean.
func (f *Fit) AppendBinary(b []byte) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, v := range [...]float64{f.admitted.value, f.admitted.n, f.storable.value, f.storable.n} {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

// UnmarshalBinary takes over what AppendBinary wrote, for the tier of f. With an error,
// ErrState, f stays as it is.
func (f *Fit) UnmarshalBinary(b []byte) error {
	if len(b) != stateBytes {
		return ErrState
	}
	var v [4]float64
	for i := range v {
		v[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
		if !(v[i] >= 0 && v[i] <= math.MaxInt64) {
			return ErrState
		}
	}
	if v[1] > recent || v[3] > recent || v[1] > v[3] {
		return ErrState
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.admitted, f.storable = mean{v[0], v[1], v[0]}, mean{v[2], v[3], v[2]}
	f.settleLocked()
	return nil
}
