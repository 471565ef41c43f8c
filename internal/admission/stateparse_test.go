package admission

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"edgeproxy/internal/bloom"
)

func putBytes(b []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	}
}

// plain is a filter that saves as a text.
type plain struct {
	numbering
	text string
	err  error
}

func (plain) Rotate(time.Time, bloom.Cause) bool { return true }
func (plain) Full() bool                         { return false }
func (plain) FullC() <-chan struct{}             { return nil }
func (plain) Stats(time.Time) bloom.Stats        { return bloom.Stats{} }
func (plain) Bytes() int64                       { return 0 }
func (plain) Start() time.Time                   { return time.Time{} }
func (p plain) Save(w io.Writer, _ time.Time) error {
	if p.err != nil {
		return p.err
	}
	_, err := io.WriteString(w, p.text)
	return err
}

// stateOf returns a state with the sections given as name, text, name, text...
func stateOf(t testing.TB, texts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	sw := newStateWriter(&b, 42, time.Unix(7, 8))
	for i := 0; i < len(texts); i += 2 {
		sw.section(texts[i], &plain{text: texts[i+1]}, time.Time{})
	}
	if err := sw.close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestAStateIsReadAsItWasWritten(t *testing.T) {
	f := func(texts ...string) {
		t.Helper()
		b := stateOf(t, texts...)
		st, err := parseState(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Errorf("%q: got %v, want no error", texts, err)
			return
		}
		if st.Seed() != 42 || !st.saved.Equal(time.Unix(7, 8)) || len(st.sections) != len(texts)/2 {
			t.Errorf("%q: got seed %d, time %v, %d sections, want 42, 7.000000008 and all", texts, st.Seed(), st.saved, len(st.sections))
		}
		for i := 0; i < len(texts); i += 2 {
			if got, err := io.ReadAll(st.section(texts[i])); err != nil || string(got) != texts[i+1] {
				t.Errorf("section %q: got %q, %v, want %q", texts[i], got, err, texts[i+1])
			}
		}
		if got := st.section("absent"); got != nil {
			t.Errorf("a section that is not there: got %v, want nil", got)
		}
	}
	f()
	f("a", "")
	f("a", "some text")
	f("a", "some text", "b", "", "c", "more")
}

func TestATableThatDoesNotFitItsStateIsRefused(t *testing.T) {
	whole := stateOf(t, "a", "some text") // the table is at 29: length, name, offset, length
	f := func(name string, at int, value uint64) {
		t.Helper()
		b := bytes.Clone(whole)
		binary.LittleEndian.PutUint64(b[at:], value)
		if st, err := parseState(bytes.NewReader(b), int64(len(b))); !errors.Is(err, ErrState) {
			t.Errorf("%s: got %+v and %v, want ErrState", name, st, err)
		}
	}
	const offset, length = 29 + 2, 29 + 10
	f("section in the head", offset, stateHeadBytes-1)
	f("section behind the table", offset, 30)
	f("section one byte too long", length, 10)
	f("section of no end", length, ^uint64(0))
	table := len(whole) - 8
	f("table in the head", table, stateHeadBytes-1)
	f("table behind the end", table, uint64(len(whole)))
	f("table of no end", table, ^uint64(0))
	f("more sections than the table has", table-4, 29<<32|2)

	long := stateOf(t, "a", strings.Repeat("x", 2*maxTableBytes))
	f = func(name string, at int, value uint64) {
		t.Helper()
		binary.LittleEndian.PutUint64(long[at:], value)
		if _, err := parseState(bytes.NewReader(long), int64(len(long))); !errors.Is(err, ErrState) {
			t.Errorf("%s: got %v, want ErrState", name, err)
		}
	}
	f("table of all the content", len(long)-8, stateHeadBytes)
}

func TestAnErrorOfWritingIsKept(t *testing.T) {
	broken := errors.New("broken")
	sw := newStateWriter(io.Discard, 1, time.Time{})
	sw.section("a", &plain{text: "x"}, time.Time{})
	sw.section("b", &plain{err: broken}, time.Time{})
	sw.section("c", &plain{text: "x"}, time.Time{})
	if err := sw.close(); !errors.Is(err, broken) || err.Error() != "save the b filter: broken" {
		t.Errorf("got %v, want that of section b", err)
	}
}

// FuzzParseState holds the parser to what it promises: no panic, and sections
// that lie within the state.
func FuzzParseState(f *testing.F) {
	whole := stateOf(f, "second_hit", "some text", "counting", "more")
	f.Add(whole)
	for n := range whole {
		f.Add(whole[:n])
	}
	f.Add(append(bytes.Clone(whole), 0))
	f.Fuzz(func(t *testing.T, b []byte) {
		st, err := parseState(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			if !errors.Is(err, ErrState) {
				t.Errorf("got %v, want ErrState in it", err)
			}
			return
		}
		for name, s := range st.sections {
			if got, err := io.ReadAll(st.section(name)); err != nil || int64(len(got)) != s.length {
				t.Errorf("section %q: got %d bytes, %v, want %d", name, len(got), err, s.length)
			}
		}
	})
}
