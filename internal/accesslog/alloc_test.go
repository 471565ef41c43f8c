//go:build !race

package accesslog

import (
	"io"
	"testing"
)

// The tolerance is what AllocsPerRun rounds down: less than one allocation in a
// run, for buffers that grow and pools that a collection empties. The race
// detector empties pools at random, so there the number means nothing.
func TestWriteDoesNotAllocate(t *testing.T) {
	l := mustNew(t, io.Discard, Options{})
	line := sample()
	if got := testing.AllocsPerRun(2000, func() { l.Write(line) }); got != 0 {
		t.Errorf("Write: got %v allocations, want 0", got)
	}
	mustClose(t, l)
	if n := l.Dropped(); n != 0 {
		t.Errorf("Dropped: got %d, want 0: the figure is of lines thrown away", n)
	}
}
