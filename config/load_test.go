package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "edge.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoadReadsTheEnvironment(t *testing.T) {
	t.Setenv("EDGEPROXY_TEST_NAME", "from-the-environment")
	c, err := Load(write(t, "origins: {app: {servers: [\"http://h\"]}}\nnode: {name: \"${EDGEPROXY_TEST_NAME}\"}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if c.Node.Name != "from-the-environment" {
		t.Errorf("got %q, want the variable's value", c.Node.Name)
	}
}

func TestLoadNamesTheFile(t *testing.T) {
	path := write(t, "limits: {variants: 0}\n")
	_, err := Load(path)
	var all Errors
	if !errors.As(err, &all) || len(all) != 2 {
		t.Fatalf("got %v, want two errors", err)
	}
	for _, e := range all {
		if e.File != path {
			t.Errorf("got file %q, want %q", e.File, path)
		}
	}
	var first *FieldError
	if !errors.As(err, &first) || first.Path != "origins" {
		t.Errorf("got %v, want the file's first problem", first)
	}
}

func TestLoadWithoutAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.yaml")
	_, err := Load(path)
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want one that says that %s is not there", err, path)
	}
	if _, err := Load(t.TempDir()); err == nil || !strings.Contains(err.Error(), "is a folder: must be a file, which may include a folder") {
		t.Errorf("a folder: got %v", err)
	}
}

func TestLoadReadsNoMoreThanItTakes(t *testing.T) {
	_, err := Load(write(t, strings.Repeat("#", 2*maxFileBytes)))
	if err == nil || !strings.HasSuffix(err.Error(), ":1:1: must be a file of at most 1MiB") {
		t.Errorf("got %v, want the limit", err)
	}
}

func TestErrorsComeOneByOne(t *testing.T) {
	_, err := Parse(caseFile, []byte("limits: {variants: 0}\norigins: {app: {servers: []}}\n"))
	var many interface{ Unwrap() []error }
	if !errors.As(err, &many) || len(many.Unwrap()) != 2 {
		t.Fatalf("got %v, want two errors", err)
	}
	want := &FieldError{File: caseFile, Line: 1, Column: 20, Path: "limits.variants", Value: "0", Want: "must be 1 to 10000000"}
	if diff := cmp.Diff(want, many.Unwrap()[0]); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

func TestDefaultIsTheCallers(t *testing.T) {
	Default().Listen[0].Address = "changed"
	if got := Default().Listen[0].Address; got != "127.0.0.1:8080" {
		t.Errorf("got %q, want the default untouched by an earlier caller", got)
	}
}
