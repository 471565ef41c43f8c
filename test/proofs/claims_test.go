package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// Everything that is claimed must hold. The program it runs is none that the race
// detector would see into.
func TestWhatIsClaimedHolds(t *testing.T) {
	testkit.Slow(t, "it runs the program for minutes")
	testkit.Plain(t, "the program does the work")
	s := simulator{traces: testkit.Trace(t, ""), program: testkit.Built(t), objects: usualObjects}
	for _, prove := range proofs() {
		p, err := prove(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(p.title, func(t *testing.T) {
			for _, c := range p.claims {
				if !c.holds {
					t.Errorf("%s: got %s", c.says, c.found)
				}
			}
			var table bytes.Buffer
			if err := p.write(&table); err != nil {
				t.Fatal(err)
			}
			t.Logf("\n%s", &table)
		})
	}
}

// The document has the table as it is printed.
func TestTableOfTheFleetIsInTheDocument(t *testing.T) {
	testkit.Slow(t, "it runs the program")
	testkit.Plain(t, "the program does the work")
	s := simulator{traces: testkit.Trace(t, ""), program: testkit.Built(t)}
	p, err := proveFleet(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	document, err := os.ReadFile(filepath.Join("..", "..", "docs", "savings.md"))
	if err != nil {
		t.Fatal(err)
	}
	if table := p.table.Markdown(""); !strings.Contains(string(document), table) {
		t.Errorf("docs/savings.md has another table:\n%s", table)
	}
}
