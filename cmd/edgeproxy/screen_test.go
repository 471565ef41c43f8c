package main

import (
	"strings"
	"testing"
)

// The top of status --watch scrolled away each second on a terminal with fewer lines.
func TestAScreenIsCutToItsTerminal(t *testing.T) {
	f := func(s dimensions, text, want string) {
		t.Helper()
		if got := fitted(text, s); got != want {
			t.Errorf("%+v: got %q, want %q", s, got, want)
		}
	}
	f(dimensions{}, "a\nb\nc\n", "a\nb\nc\n")
	f(dimensions{rows: 4, columns: 80}, "a\nb\nc\n", "a\nb\nc\n")
	f(dimensions{rows: 3, columns: 80}, "a\nb\nc\n", "a\n(2 more lines: enlarge the terminal, or leave --watch out)\n")
	f(dimensions{rows: 2, columns: 3}, "a\nb\n", "(2 \n")
	f(dimensions{columns: 2}, "µµµ\nab\n", "µµ\nab\n")
	f(dimensions{rows: 1}, "a\nb\n", "a\nb\n")
}

func TestScreensElsewhereAreSeparatedByALine(t *testing.T) {
	var w strings.Builder
	for i, want := range []string{"a\n", "\na\n"} {
		if got := onScreen(&w, "a\n", true, i > 0); got != want {
			t.Errorf("screen %d: got %q, want %q", i, got, want)
		}
	}
}
