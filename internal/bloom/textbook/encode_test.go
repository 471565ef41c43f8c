package textbook

import (
	"bytes"
	"encoding"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/bloom"
)

var (
	_ encoding.BinaryMarshaler   = (*Filter)(nil)
	_ encoding.BinaryAppender    = (*Filter)(nil)
	_ encoding.BinaryUnmarshaler = (*Filter)(nil)
	_ encoding.BinaryMarshaler   = (*Partitioned)(nil)
	_ encoding.BinaryAppender    = (*Partitioned)(nil)
	_ encoding.BinaryUnmarshaler = (*Partitioned)(nil)
)

func marshal(t testing.TB, f encoding.BinaryMarshaler) []byte {
	t.Helper()
	data, err := f.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// sealed returns data with the checksum that belongs to it.
func sealed(data []byte) []byte {
	body := data[:len(data)-trailerBytes]
	return binary.LittleEndian.AppendUint32(bytes.Clone(body), crc32.Checksum(body, castagnoli()))
}

func TestBinaryFormIsWhatTheCommentSays(t *testing.T) {
	f := NewFilterWith(Params{Cells: 70, Probes: 3, Rule: bloom.RuleSquare, Folds: 1, Seed: 0x1122334455667788})
	f.words[0].Store(0x0102030405060708)
	f.words[1].Store(0x3f)
	f.keys.Store(5)
	got := marshal(t, f)
	want := "4544474 24c4f4f4d 0100 01 02 03 01 0000" +
		"4600000000000000 8877665544332211 0500000000000000" +
		"0807060504030201 3f00000000000000"
	want = string(bytes.ReplaceAll([]byte(want), []byte(" "), nil))
	body := got[:len(got)-4]
	if diff := cmp.Diff(want, hex.EncodeToString(body)); diff != "" {
		t.Errorf("before the checksum (-want +got):\n%s", diff)
	}
	sum := crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli))
	if got := binary.LittleEndian.Uint32(got[len(got)-4:]); got != sum {
		t.Errorf("checksum: got %08x, want %08x", got, sum)
	}
}

func TestDecodedFilterIsTheEncodedOne(t *testing.T) {
	keys := hashes(81, 500)
	p := Params{Cells: 10_007, Probes: 5, Rule: bloom.RuleDouble, Folds: 3, Seed: 42}
	f := func(from, to interface {
		Set
		encoding.BinaryAppender
		encoding.BinaryMarshaler
		encoding.BinaryUnmarshaler
		Params() Params
		Keys() int64
		Fill() float64
	},
	) {
		t.Helper()
		for _, h := range keys {
			from.Add(h[0], h[1])
		}
		data, err := from.AppendBinary([]byte("before"))
		if err != nil || !bytes.HasPrefix(data, []byte("before")) {
			t.Fatalf("got error %v and %.6q, want what was there before", err, data)
		}
		data = data[len("before"):]
		if err := to.UnmarshalBinary(data); err != nil {
			t.Fatal(err)
		}
		again := marshal(t, to)
		if !bytes.Equal(data, again) {
			t.Error("encoded again: got other bytes, want the same")
		}
		for i := range data {
			data[i] = 0 // not kept by the filter
		}
		if to.Params() != from.Params() || to.Keys() != from.Keys() || to.Fill() != from.Fill() {
			t.Errorf("got %+v, %d keys, fill %v, want %+v, %d, %v",
				to.Params(), to.Keys(), to.Fill(), from.Params(), from.Keys(), from.Fill())
		}
		for _, h := range keys {
			if !to.Has(h[0], h[1]) {
				t.Fatalf("key %x: got lost, want there", h)
			}
		}
		to.Add(1, 1)
		if !to.Has(1, 1) {
			t.Error("a key added to the decoded filter: got lost, want there")
		}
	}
	f(NewFilterWith(p), &Filter{})
	f(NewFilterWith(p), NewFilter(64, 1))
	f(NewPartitionedWith(p), &Partitioned{})
	f(NewPartitionedWith(p), NewPartitioned(64, 1))
	f(NewFilter(64, 64), &Filter{})
}

// refused fails the test unless data is, with an error of that name, and leaves
// the filter as it was.
func refused(t *testing.T, what string, data []byte, want string) {
	t.Helper()
	f := setTo(Params{Cells: 100, Probes: 2}, hashes(82, 5))
	before := marshal(t, f)
	var decode *DecodeError
	if err := f.UnmarshalBinary(data); !errors.As(err, &decode) {
		t.Fatalf("%s: got error %v, want a *DecodeError", what, err)
	}
	if want != "" && decode.What != want {
		t.Errorf("%s: got %v, want an error of the %s", what, decode, want)
	}
	if !bytes.Equal(before, marshal(t, f)) {
		t.Errorf("%s: the filter changed", what)
	}
}

func TestDamagedFiltersAreRefused(t *testing.T) {
	data := marshal(t, setTo(Params{Cells: 200, Probes: 3, Seed: 9}, hashes(83, 20)))
	for n := range data {
		refused(t, "truncated", data[:n], "length")
	}
	refused(t, "extended", append(bytes.Clone(data), 0), "length")
	refused(t, "twice", append(bytes.Clone(data), data...), "length")
	for i := range data {
		for bit := range 8 {
			flipped := bytes.Clone(data)
			flipped[i] ^= 1 << bit
			refused(t, "flipped", flipped, "")
		}
	}
}

// Each with a checksum that fits: what is refused is what it says.
func TestForeignFiltersAreRefused(t *testing.T) {
	data := marshal(t, setTo(Params{Cells: 200, Probes: 3, Seed: 9}, hashes(83, 20)))
	f := func(what string, at int, to []byte, want string) {
		t.Helper()
		changed := bytes.Clone(data)
		copy(changed[at:], to)
		refused(t, what, sealed(changed), want)
	}
	f("magic", 0, []byte("PK"), "magic")
	f("older version", 8, []byte{0, 0}, "version")
	f("newer version", 8, []byte{2, 0}, "version")
	f("no kind", 10, []byte{0}, "kind")
	f("partitioned", 10, []byte{2}, "kind")
	f("rule", 11, []byte{3}, "parameters")
	f("no probes", 12, []byte{0}, "parameters")
	f("65 probes", 12, []byte{65}, "parameters")
	f("folds beyond any size", 13, []byte{255}, "parameters")
	f("reserved", 14, []byte{0, 1}, "reserved")
	f("no cells", 16, make([]byte, 8), "parameters")
	f("more cells than the array", 16, []byte{200, 1}, "length")
	f("fewer cells than the array", 16, []byte{64}, "length")
	f("2^64-1 cells", 16, bytes.Repeat([]byte{255}, 8), "parameters")
	f("negative keys", 39, []byte{255}, "keys")
	f("bits past the last cell", 40+3*8+1, []byte{1}, "bits past the last cell")
	rows := marshal(t, NewPartitioned(100, 2))
	refused(t, "a partitioned", rows, "kind")
	refused(t, "nothing", nil, "length")
}

// A header of some bytes that claims the largest filter there is must not make
// anybody allocate it.
func TestAClaimedSizeAllocatesNothing(t *testing.T) {
	data := marshal(t, NewFilter(64, 1))
	binary.LittleEndian.PutUint64(data[16:], bloom.MaxCells)
	data = sealed(data)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	refused(t, "2 GiB claimed", data, "length")
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
		t.Errorf("got %d bytes allocated, want next to none", got)
	}
}

// Whatever is decoded encodes to the same bytes: there is one form of a filter.
func FuzzUnmarshalBinary(f *testing.F) {
	f.Add(marshal(f, setTo(Params{Cells: 100, Probes: 3, Seed: 1}, hashes(84, 10))))
	f.Add(marshal(f, NewPartitionedWith(Params{Cells: 100, Probes: 3, Rule: bloom.RuleDouble, Folds: 2})))
	f.Add(marshal(f, NewFilter(64, 1))[:40])
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, data []byte) {
		// The checksum would keep the fuzzer out of everything behind it.
		if len(data) >= trailerBytes {
			data = sealed(data)
		}
		var plain Filter
		if err := plain.UnmarshalBinary(data); err == nil {
			plain.Add(1, 2)
			plain.Has(3, 4)
			if err := plain.UnmarshalBinary(data); err != nil || !bytes.Equal(marshal(t, &plain), data) {
				t.Errorf("filter: error %v, or encoded to other bytes than it was decoded from", err)
			}
			counted(t, "filter", &plain.array)
		}
		var rows Partitioned
		if err := rows.UnmarshalBinary(data); err == nil {
			rows.Has(1, 2)
			if !bytes.Equal(marshal(t, &rows), data) {
				t.Error("partitioned: encoded to other bytes than it was decoded from")
			}
		}
	})
}
