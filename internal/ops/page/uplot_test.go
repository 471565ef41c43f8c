package page

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"testing"
)

// The files of uPlot are those of the release: an edit here would be lost with
// the next one, and nobody could tell what a page runs.
func TestUPlotIsUnchanged(t *testing.T) {
	readme, err := os.ReadFile("uplot/README.md")
	if err != nil {
		t.Fatal(err)
	}
	f := func(name, embedded, want string) {
		t.Helper()
		sum := sha256.Sum256([]byte(embedded))
		if got := hex.EncodeToString(sum[:]); got != want {
			t.Errorf("%s: got the SHA-256 %s, want %s", name, got, want)
		}
		if row := "| " + name + " | " + want + " |"; !strings.Contains(string(readme), row) {
			t.Errorf("uplot/README.md: no row %q", row)
		}
	}

	f("uPlot.iife.min.js", uplotScript, "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f")
	f("uPlot.min.css", uplotStyle, "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04")
}

// The licence asks to stand in every copy, and a page with charts is one.
func TestPageCarriesTheLicenceOfUPlot(t *testing.T) {
	f := func(name string, p *Page, want bool) {
		t.Helper()
		document := written(t, p)
		for _, words := range []string{"The MIT License", "Copyright (c) 2022 Leon Sorokin", "THE SOFTWARE IS PROVIDED"} {
			if got := strings.Contains(document, words); got != want {
				t.Errorf("%s: %q in the page: got %v, want %v", name, words, got, want)
			}
		}
	}

	f("with charts", sample(), true)
	f("without", &Page{Title: "t"}, false)
}
