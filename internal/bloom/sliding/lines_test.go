package sliding

import (
	"testing"

	"edgeproxy/internal/bloom"
	"edgeproxy/internal/bloom/internal/bloomtest"
)

// Both generations share their lines while they are of one size, and again at the second
// rotation after a change; a limit that moved a little leaves the memory as it is.
func TestGenerationsOfOneSizeLieSideBySideAgain(t *testing.T) {
	o := bloomtest.Options(2, 1000, 1e-9)
	o.Resizable = true
	f, err := New(o, start)
	if err != nil {
		t.Fatal(err)
	}
	rotated := func(n int, want bool) {
		t.Helper()
		for range n {
			f.Rotate(start, bloom.CauseFitted)
		}
		if got := f.ring.View().lines != nil; got != want {
			t.Errorf("limit %d: got side by side %v, want %v", f.Limit(), got, want)
		}
	}
	rotated(0, true)
	f.SetLimit(100_000)
	rotated(1, false)
	rotated(1, true)
	lines := &f.ring.View().lines[0]
	f.SetLimit(70_000) // within the room, and more than half of it
	rotated(3, true)
	if &f.ring.View().lines[0] != lines {
		t.Error("a limit that moved a little: got other memory, want what there was")
	}
	f.SetLimit(500)
	rotated(2, true)
}
