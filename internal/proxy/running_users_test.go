package proxy

import (
	"testing"

	"edgeproxy/internal/proxy/internal/running"
)

func TestPhaseOfEachDisposition(t *testing.T) {
	for way, want := range map[disposition]running.Phase{hit: running.Disk, needsPassword: running.Password, needsDisk: running.Disk, miss: running.Origin, pass: running.Origin, refused: running.Origin} {
		if got := (&exchange{sending: sending{way: way}}).phase(); got != want {
			t.Errorf("way %d: got %s, want %s", way, got, want)
		}
	}
}
