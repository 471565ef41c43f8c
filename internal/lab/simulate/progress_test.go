package simulate

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vbauerster/mpb/v8"
)

func TestMeterIsSilentWhereThereIsNoTerminal(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var b bytes.Buffer
	for _, m := range []*Meter{NewMeter(&b), NewMeter(file)} {
		m.Reading(1, 2)
		m.Replaying(1, 2)
		m.Close()
	}
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if b.Len() > 0 || info.Size() > 0 {
		t.Errorf("got %d and %d bytes, want none", b.Len(), info.Size())
	}
}

func TestMeterDrawsReadingThenReplaying(t *testing.T) {
	f := func(name string, show func(*Meter), want ...string) {
		t.Helper()
		var b bytes.Buffer
		draw := make(chan any)
		m := &Meter{bars: mpb.New(mpb.WithOutput(&b), mpb.WithAutoRefresh(), mpb.WithManualRefresh(draw))}
		show(m)
		draw <- nil
		m.Close()
		for _, w := range want {
			if !strings.Contains(b.String(), w) {
				t.Errorf("%s: got %q, want %q in it", name, b.String(), w)
			}
		}
	}
	f("of a known size", func(m *Meter) { m.Reading(30, 100) }, "reading", "30 %")
	f("of unknown size", func(m *Meter) { m.Reading(12345, 0) }, "reading", "12345")
	f("the second", func(m *Meter) { m.Reading(100, 100); m.Replaying(20, 40) }, "replaying", "50 %")
	f("nothing", func(*Meter) {})
}
