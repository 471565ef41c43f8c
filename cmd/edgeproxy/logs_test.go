package main

import (
	"bytes"
	"strings"
	"testing"

	"edgeproxy/config"
	"edgeproxy/internal/ops/lines"
)

// What a client sent could steer the terminal of who read the program's own log in JSON, and show something else than it says.
func TestTheProgramsOwnLogHadCharactersThatTerminalsObey(t *testing.T) {
	const evil = "/\x1b[2J\u009b31m\x7f\u202e\u2066\u2028\r\n\t\xff"
	for _, format := range []config.Format{config.FormatJSON, config.FormatText} {
		var out bytes.Buffer
		log := newLog(config.Log{Format: format}, &out)
		log.Warn("request failed", "target", evil)
		log.With("host", evil).WithGroup(evil).Error(evil, "client", evil)
		text := out.String()
		if strings.Count(text, "\n") != 2 || !strings.Contains(text, `31m`) {
			t.Errorf("%s: got %q, want two lines", format, text)
		}
		if i := strings.IndexFunc(strings.ReplaceAll(text, "\n", ""), lines.Unsafe); i >= 0 {
			t.Errorf("%s: got %q, with an unsafe character", format, text)
		}
	}
}
