package proxy

import (
	"strings"
	"testing"
)

func TestIDsOfTrustedProxiesAreVisible(t *testing.T) {
	for id, want := range map[string]bool{
		"": false, "a": true, "a b": false, "a\tb": false, "\x7f": false, "é": false, "~!\"": true,
		strings.Repeat("x", mostIDBytes): true, strings.Repeat("x", mostIDBytes+1): false,
	} {
		if got := soundID([]byte(id)); got != want {
			t.Errorf("%q: got %v, want %v", id, got, want)
		}
	}
}
