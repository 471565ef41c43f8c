package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakeNPM puts a shell script in npm's place. Its third argument is the folder.
func fakeNPM(t *testing.T, script string) {
	t.Helper()
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "npm"), []byte("#!/bin/sh\nset -eu\ndir=$3\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// installing is a script that installs a package with this checksum.
func installing(integrity string) string {
	return fmt.Sprintf(`mkdir -p "$dir/node_modules/http-cache-tests"
printf '{"packages": {"node_modules/http-cache-tests": {"integrity": "%%s"}}}' '%s' >"$dir/node_modules/.package-lock.json"
echo "$@" >"$dir/arguments"
`, integrity)
}

// left lists what is in dir.
func left(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

func TestInstallHappensOnce(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "new")
	fakeNPM(t, installing(packageIntegrity))
	dir, err := install(t.Context(), cache)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Errorf("the suite is not where install says: %v", err)
	}
	arguments, err := os.ReadFile(filepath.Join(cache, left(t, cache), "arguments"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"http-cache-tests@0.4.5", "--ignore-scripts"} {
		if !strings.Contains(string(arguments), want) {
			t.Errorf("npm was called with %s, want %s", arguments, want)
		}
	}

	fakeNPM(t, "exit 1") // the network is gone
	if again, err := install(t.Context(), cache); err != nil || again != dir {
		t.Errorf("the second time: got %q, %v, want %q", again, err, dir)
	}
}

func TestInstallThatFailsLeavesNothing(t *testing.T) {
	f := func(name, script string, wantNoSuite bool) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			cache := t.TempDir()
			fakeNPM(t, script)
			dir, err := install(t.Context(), cache)
			if err == nil || errors.Is(err, errNoSuite) != wantNoSuite {
				t.Errorf("got %q, %v, want an error, errNoSuite: %v", dir, err, wantNoSuite)
			}
			if got := left(t, cache); got != "" {
				t.Errorf("the cache has %s, want nothing", got)
			}
		})
	}

	f("no network", "echo offline >&2; exit 1", true)
	f("cut off", `mkdir -p "$dir/node_modules/http-cache-tests"; exit 1`, true)
	// Another package under the name is no missing network: nobody may overlook it.
	f("another checksum", installing("sha512-other"), false)
	f("no checksum", `mkdir -p "$dir/node_modules/http-cache-tests"`, false)
}

func TestInstalledSuiteIsCheckedAgain(t *testing.T) {
	cache := t.TempDir()
	fakeNPM(t, installing(packageIntegrity))
	if _, err := install(t.Context(), cache); err != nil {
		t.Fatal(err)
	}
	lock := filepath.Join(cache, left(t, cache), "node_modules", ".package-lock.json")
	if err := os.WriteFile(lock, []byte(`{"packages": {}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := install(t.Context(), cache); err == nil || !strings.Contains(err.Error(), packageIntegrity) {
		t.Errorf("got %v, want an error with the checksum", err)
	}
}
