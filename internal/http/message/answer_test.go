package message

import (
	"errors"
	"io"
	"net"
	"slices"
	"testing"
)

func TestContentInMemoryIsGivenAtOnceOrPieceByPiece(t *testing.T) {
	f := func(name string, say func(*Answer), want ...string) {
		t.Helper()
		var a Answer
		a.Reset()
		say(&a)
		var got []string
		for _, b := range a.Content.Bytes() {
			got = append(got, string(b))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s, at once: got %q, want %q", name, got, want)
		}
		got = nil
		for {
			b, err := a.Content.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			got = append(got, string(b))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s, in pieces: got %q, want %q", name, got, want)
		}
		a.Close()
		if a.Reset(); a.Content != nil || a.Length != -1 {
			t.Errorf("%s: after Reset there is %v of %d bytes", name, a.Content, a.Length)
		}
	}
	f("one", func(a *Answer) { a.Say([]byte("abc")) }, "abc")
	f("several", func(a *Answer) { a.SayAll(net.Buffers{[]byte("a"), []byte("bc")}) }, "a", "bc")
}

// released counts its releases.
type released int

func (r *released) Descriptor() int { return 3 }
func (r *released) Release()        { *r++ }

func TestAFileIsReleasedOnce(t *testing.T) {
	f := func(name string, end func(*Answer)) {
		t.Helper()
		var a Answer
		var file released
		a.Reset()
		a.SayFile([]byte("abc"), &file, 7)
		if got, offset := a.File(); got != &file || offset != 7 || string(a.Content.Bytes()[0]) != "abc" {
			t.Errorf("%s: got %v from %d on", name, got, offset)
		}
		end(&a)
		if got, _ := a.File(); file != 1 || got != nil {
			t.Errorf("%s: released %d times, want once; then there is %v", name, file, got)
		}
	}
	f("sent", func(a *Answer) { a.Close(); a.Reset() })
	f("given up", func(a *Answer) { a.Reset(); a.Reset() })
	f("other content", func(a *Answer) { a.Say([]byte("other")); a.Close() })
	f("other pieces", func(a *Answer) { a.SayAll(net.Buffers{[]byte("other")}); a.Close() })
}

func TestAnswerOfOnePieceAllocatesNothing(t *testing.T) {
	var a Answer
	b := make([]byte, 10)
	if got := testing.AllocsPerRun(100, func() {
		a.Reset()
		a.Say(b)
		_ = a.Content.Bytes()
	}); got != 0 {
		t.Errorf("got %v allocations, want none", got)
	}
}
