package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"edgeproxy/internal/test/testkit"
)

func TestMain(m *testing.M) {
	code := m.Run()
	_ = testkit.RemoveBuilt()
	os.Exit(code)
}

func TestTheListHasTheModulesThatAreInTheProgram(t *testing.T) {
	path := testkit.Built(t)
	var one, two bytes.Buffer
	if err := list(&one, path, "../..", "1.2.3", "0123456789ab"); err != nil {
		t.Fatal(err)
	}
	if err := list(&two, path, "../..", "1.2.3", "0123456789ab"); err != nil || !bytes.Equal(one.Bytes(), two.Bytes()) {
		t.Errorf("a second list differs: %v", err)
	}
	var d document
	if err := json.Unmarshal(one.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	if p := d.Metadata.Component; p.Name != "edgeproxy" || p.Version != "1.2.3" || !slices.Contains(p.Properties, property{"edgeproxy:commit", "0123456789ab"}) {
		t.Errorf("got the program %+v, want its version and its commit", p)
	}
	required, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	pattern := regexp.MustCompile(`^v\d+\.\d+\.\d+|^go1\.\d+|^1\.\d+\.\d+$`) // versions of modules, of Go, of uPlot
	var names []string
	for _, c := range d.Components {
		names = append(names, c.Name)
		if !pattern.MatchString(c.Version) || c.Name != "std" && (len(c.Hashes) != 1 || len(c.Hashes[0].Content) != 64) {
			t.Errorf("%s: got version %q and hashes %v", c.Name, c.Version, c.Hashes)
		}
		if c.Name != "std" && c.Name != "uplot" && !strings.Contains(string(required), c.Name+" "+c.Version) {
			t.Errorf("got %s %s, which go.mod does not have", c.Name, c.Version)
		}
	}
	for _, want := range []string{"std", "github.com/valyala/fasthttp", "github.com/dgraph-io/ristretto/v2", "github.com/molecule-man/go-brrr", "uplot"} {
		if !slices.Contains(names, want) {
			t.Errorf("no %s among %s", want, strings.Join(names, ", "))
		}
	}
	if slices.Contains(names, "github.com/google/go-cmp") {
		t.Error("go-cmp is for tests, and is in the list")
	}
}

func TestAFileThatIsNoProgramIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(path, []byte("no program"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := list(&bytes.Buffer{}, path, "../..", "", ""); err == nil {
		t.Error("got no error")
	}
}
