package archtest

import (
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write anew the parts of documents that are made from the source: the picture of the wings, the index of decisions")

// checkMade compares the file at path with what is made now, and writes it first if the test is told to.
func checkMade(t *testing.T, path, made string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(made), 0o644); err != nil { //nolint:gosec // a page of the project
			t.Fatal(err)
		}
	}
	written, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(written) != made {
		t.Errorf("%s is out of date: run go test ./internal/test/archtest -update", path)
	}
}
