package edge

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgeproxy/config"
	"edgeproxy/internal/test/testkit"
)

// Faults looks at configurations with errors too. Their settings may be anything; here they are those of the tests of config.
func TestFaultsOfAConfigurationWithErrors(t *testing.T) {
	testkit.Plain(t, "hundreds of files are read, one behind another")
	cases, err := filepath.Glob("../../config/testdata/*.txt")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	file := filepath.Join(t.TempDir(), "e.yaml")
	every, n := testkit.Times(1, 4), 0 // the quick run tries one case of four
	for _, name := range cases {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range strings.Split("\n"+string(data), "\n== ")[1:] {
			if n++; n%every != 0 {
				continue
			}
			title, text, _ := strings.Cut(text, "\n")
			text, _, _ = strings.Cut(text, "-----\n")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, plain := config.Load(file)
			_, got := config.Check(file, Faults)
			if plain == nil {
				continue
			}
			for line := range strings.SplitSeq(plain.Error(), "\n") {
				if got == nil || !strings.Contains(got.Error(), line) {
					t.Errorf("%s: got\n%v\nwant this in it:\n%s", title, got, line)
				}
			}
		}
	}
}
