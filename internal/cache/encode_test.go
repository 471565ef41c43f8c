package cache

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/rfc9111"
)

// drawnEntry returns an entry all of whose fields are drawn, some of them empty.
func drawnEntry(r *rand.Rand) *Entry {
	text := func(most int) string {
		b := make([]byte, r.IntN(most+1))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return string(b)
	}
	span := func() time.Duration { return time.Duration(r.Uint64()) }
	yes := func() bool { return r.IntN(2) == 0 }
	at := func() time.Time { return time.Unix(r.Int64N(1<<40)-1<<39, r.Int64N(1e9)).UTC() }
	e := &Entry{
		Key: Key{r.Uint64(), r.Uint64()}, URL: Key{r.Uint64(), r.Uint64()}, Name: []byte(text(300)), Status: r.Int32N(1 << 16),
		Serial: r.Uint64(), Born: r.Uint64(), ResponseTime: at(), InitialAge: span(),
		Policy: rfc9111.Policy{
			Lifetime: span(), Explicit: yes(), Heuristic: yes(), Validate: yes(), MustRevalidate: yes(), Immutable: yes(), TagWeakened: yes(),
			WhileRevalidate: span(), IfError: span(), OriginFailure: span(), Keep: span(),
		},
	}
	e.URLLen = r.Int32N(int32(len(e.Name)) + 1)
	for range r.IntN(4) {
		e.Vary = append(e.Vary, text(20))
		e.Tags = append(e.Tags, r.Uint64())
		e.Header = append(e.Header, field.Field{Name: text(20), Value: text(200)})
	}
	return e
}

func mustAppend(tb testing.TB, e *Entry) []byte {
	tb.Helper()
	b, err := appendEntry(nil, e)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// An entry comes back as it was, but for content and pin.
func TestEntriesComeBackAsTheyWere(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		e := drawnEntry(r)
		b := mustAppend(t, e)
		if len(e.Name) == 0 {
			e.Name = []byte{}
		}
		got, err := parseEntry(b)
		if err != nil || !reflect.DeepEqual(got, e) {
			t.Fatalf("got %+v, %v\nwant %+v", got, err, e)
		}
	}
	all := reflect.TypeFor[Entry]().NumField()
	if want := 15; all != want {
		t.Errorf("Entry has %d fields, want %d: what is new has to be written, too", all, want)
	}
	if n := reflect.TypeFor[rfc9111.Policy]().NumField(); n != 11 {
		t.Errorf("Policy has %d fields, want 11: what is new has to be written, too", n)
	}
}

// No part, no change of a byte and nothing longer is an entry.
func TestDamagedEntriesAreKnown(t *testing.T) {
	whole := mustAppend(t, drawnEntry(rand.New(rand.NewPCG(3, 4))))
	f := func(what string, at int, b []byte) {
		t.Helper()
		if _, err := parseEntry(b); !errors.Is(err, ErrEntryDamaged) && !errors.Is(err, ErrEntryVersion) {
			t.Errorf("%s at %d: got %v, want an error", what, at, err)
		}
	}
	for i := range whole {
		f("cut", i, whole[:i])
		b := bytes.Clone(whole)
		b[i] ^= 0x40
		f("changed", i, b)
	}
	f("longer", len(whole), append(bytes.Clone(whole), 0))
	next := bytes.Clone(whole)
	next[0]++
	if _, err := parseEntry(next); !errors.Is(err, ErrEntryVersion) {
		t.Errorf("got %v, want ErrEntryVersion", err)
	}
}

// What cannot be written says so.
func TestEntriesThatDoNotFitAreRefused(t *testing.T) {
	for _, e := range []*Entry{{Status: -1}, {Status: 1 << 16}, {URLLen: 1}, {URLLen: -1, Name: []byte("a")}} {
		if b, err := appendEntry([]byte("x"), e); err == nil || string(b) != "x" {
			t.Errorf("%+v: got %q, %v, want an error", e, b, err)
		}
	}
}

// Whatever parses is written as it was read. The checksum is mended, so that the rest is reached.
func FuzzParseEntry(f *testing.F) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 8 {
		f.Add(mustAppend(f, drawnEntry(r)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) >= entryFixedBytes+entrySumBytes {
			b = mended(b)
		}
		e, err := parseEntry(b)
		if err != nil {
			return
		}
		if again := mustAppend(t, e); !bytes.Equal(again, b) {
			t.Errorf("got %x, want %x", again, b)
		}
	})
}

// mended returns b with the length and the checksum that it should have.
func mended(b []byte) []byte {
	b = bytes.Clone(b)
	binary.LittleEndian.PutUint32(b[4:], uint32(len(b)))
	binary.LittleEndian.PutUint32(b[len(b)-entrySumBytes:], crc32.Checksum(b[:len(b)-entrySumBytes], castagnoli))
	return b
}
