package sliding

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/bloom"
)

func saved(t testing.TB, f *Filter, now time.Time) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f.Save(&b, now); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestALoadedFilterGoesOnWhereTheSavedOneStopped(t *testing.T) {
	const capacity, period = 2000, time.Minute
	for generations := 2; generations <= 4; generations++ {
		f := newTestFilter(t, generations, capacity, 1e-6)
		for g := range generations + 1 {
			f.Rotate(start.Add(time.Duration(g)*period), bloom.CauseTime)
			for key := range uint64(capacity / 2) {
				f.seen(uint64(g)<<32 | key)
			}
		}
		now := start.Add(time.Hour)
		loaded, err := Load(bytes.NewReader(saved(t, f, now)), f.options, now)
		if err != nil {
			t.Fatal(err)
		}
		was, is := f.Stats(now), loaded.Stats(now)
		was.Rotations = bloom.Rotations{}
		if diff := cmp.Diff(was, is); diff != "" {
			t.Errorf("G=%d: Stats (-saved +loaded):\n%s", generations, diff)
		}
		if !loaded.Start().Equal(f.Start()) {
			t.Errorf("G=%d: start: got %v, want %v", generations, loaded.Start(), f.Start())
		}
		if oldest, newest := loaded.Held(); oldest != 1 || newest != uint64(generations) {
			t.Errorf("G=%d: got generations %d to %d, want them numbered anew", generations, oldest, newest)
		}
		// From here on both must say the same about everything, at every age.
		for step := range generations + 1 {
			for g := range generations + 1 {
				for key := range uint64(capacity) {
					if a, b := f.has(uint64(g)<<32|key), loaded.has(uint64(g)<<32|key); a != b {
						t.Fatalf("G=%d, %d rotations on, key %d of %d: saved filter says %v, loaded one %v", generations, step, key, g, a, b)
					}
				}
			}
			f.seen(uint64(step) << 40)
			loaded.seen(uint64(step) << 40)
			f.Rotate(now, bloom.CauseTime)
			loaded.Rotate(now, bloom.CauseTime)
		}
	}
}

func TestAFullFilterIsFullWhenLoaded(t *testing.T) {
	f := newTestFilter(t, 2, 300, 1e-6)
	fillWindow(f, 2, 300)
	loaded, err := Load(bytes.NewReader(saved(t, f, start)), f.options, start)
	if err != nil {
		t.Fatal(err)
	}
	if !loaded.Full() {
		t.Error("got not full, want full as when saved")
	}
}

func TestLoadRefusesAnotherFiltersState(t *testing.T) {
	b := saved(t, newTestFilter(t, 2, 1000, 0.01), start)
	f := func(o bloom.Options, want string) {
		t.Helper()
		got, err := Load(bytes.NewReader(b), o, start)
		state, ok := errors.AsType[*bloom.StateError](err)
		if got != nil || !ok || state.What != want {
			t.Errorf("%+v: got %v, want a StateError for the %s", o, err, want)
		}
	}
	f(options(3, 1000, 0.01), "generations")
	f(options(2, 1001, 0.01), "capacity")
	f(options(2, 1000, 0.02), "false_positive_rate")
	if _, err := Load(bytes.NewReader(b), options(2, 0, 0.01), start); err == nil {
		t.Error("options that cannot work: got a filter, want an error")
	}
}

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

// FuzzLoad: whatever the bytes, Load returns a filter that works or an error,
// and takes no more memory than the options ask for.
func FuzzLoad(f *testing.F) {
	o := options(2, 20, 0.1)
	filter, err := New(o, start)
	if err != nil {
		f.Fatal(err)
	}
	for key := range uint64(15) {
		filter.seen(key)
	}
	b := saved(f, filter, start)
	f.Add(b)
	f.Add(b[:len(b)-1])
	f.Add(append(bytes.Clone(b), 0))
	f.Add(b[:90])
	f.Add([]byte("EDGSLIDE"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b)%2 == 1 { // an odd byte asks for good checksums, or nothing would get past them
			b = sealed(b[:len(b)-1])
		}
		loaded, err := Load(bytes.NewReader(b), o, start)
		if (loaded == nil) == (err == nil) {
			t.Fatalf("got filter %v and error %v, want one of them", loaded, err)
		}
		if err != nil {
			return
		}
		if loaded.Bytes() != filter.Bytes() || loaded.Start().After(start) || loaded.Stats(start).Keys < 0 {
			t.Errorf("got %d bytes, a start of %v and %+v", loaded.Bytes(), loaded.Start(), loaded.Stats(start))
		}
		loaded.seen(1)
		if !loaded.has(1) {
			t.Error("a key sighted in a loaded filter: got forgotten, want seen")
		}
	})
}
