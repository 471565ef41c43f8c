package accesslog

import (
	"io"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// The tolerance is what AllocsPerRun rounds down: less than one allocation in a
// run, for buffers that grow and pools that a collection empties.
func TestWriteDoesNotAllocate(t *testing.T) {
	testkit.Plain(t, "counts allocations, and the race detector empties pools at random")
	for name, format := range formats(t) {
		l := mustNew(t, io.Discard, Options{QueueBytes: 64 << 20})
		line := full()
		if got := testing.AllocsPerRun(2000, func() { l.WriteAs(format, line) }); got != 0 {
			t.Errorf("%s: got %v allocations, want 0", name, got)
		}
		mustClose(t, l)
		if n := l.Dropped(); n != 0 {
			t.Errorf("%s: got %d lines dropped, want 0: the figure is of lines thrown away", name, n)
		}
	}
}
