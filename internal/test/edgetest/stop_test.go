package edgetest

import (
	"runtime"
	"testing"
)

// An edge that was stopped before its server had begun to accept never ended: nobody had told the
// server of the listener that was to be closed.
func TestEdgeStoppedBeforeItAcceptsHung(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // what was begun last does not run before the end
	for range 20 {
		t.Run("", func(t *testing.T) { Start(t, "", Options{}) })
	}
}
