package bloomtest

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"slices"
	"testing"
)

// sealed gives the header and the whole the checksums that they then have.
func sealed(b []byte) []byte {
	const header = 80
	b = slices.Clone(b)
	put := func(at int) {
		binary.LittleEndian.PutUint32(b[at:], crc32.Checksum(b[:at], crc32.MakeTable(crc32.Castagnoli)))
	}
	if len(b) >= header+4 {
		put(header)
	}
	if len(b) >= header+8 {
		put(len(b) - 4)
	}
	return b
}

// FuzzLoad tries that, whatever the bytes, Load returns a filter that works or an error,
// and takes no more memory than the options ask for.
func FuzzLoad(f *testing.F, family Family) {
	f.Helper()
	o := Options(2, 20, 0.1)
	whole := family.filter(f, o)
	for key := range uint64(15) {
		sight(whole, key)
	}
	b := saved(f, whole, T0())
	f.Add(b)
	f.Add(b[:len(b)-1])
	f.Add(append(bytes.Clone(b), 0))
	f.Add(b[:90])
	f.Add([]byte("EDGSLIDE"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b)%2 == 1 { // an odd byte asks for good checksums, or nothing would get past them
			b = sealed(b[:len(b)-1])
		}
		loaded, err := family.Load(bytes.NewReader(b), o, T0())
		if (loaded == nil) == (err == nil) {
			t.Fatalf("got filter %v and error %v, want one of them", loaded, err)
		}
		if err != nil {
			return
		}
		if loaded.Bytes() != whole.Bytes() || loaded.Start().After(T0()) || loaded.Stats(T0()).Keys < 0 {
			t.Errorf("got %d bytes, a start of %v and %+v", loaded.Bytes(), loaded.Start(), loaded.Stats(T0()))
		}
		sight(loaded, 1)
		if got := loaded.Count(Hash(1)); got < 1 || got > 2*family.Counts {
			t.Errorf("a key sighted in a loaded filter: got a count of %d, want 1 to %d", got, 2*family.Counts)
		}
	})
}
