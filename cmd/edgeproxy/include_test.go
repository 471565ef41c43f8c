package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheckNamesTheFilesThatItHasRead(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "edge.yaml", "include: sites\norigins: {app: {servers: [\"http://127.0.0.1:9\"]}}\n")
	sites := filepath.Join(filepath.Dir(file), "sites")
	if err := os.Mkdir(sites, 0o700); err != nil {
		t.Fatal(err)
	}
	got := runBinary(t, "check", "-c", file)
	if want := "warning: " + file + ":1:10: include: sites: the folder has no file with a name that ends in .yaml\n"; got.code != exitDone || got.stderr != want {
		t.Errorf("got %d %q, want %q", got.code, got.stderr, want)
	}
	renameOver(t, filepath.Join(sites, "b.yaml"), "routes: [{name: rest, origin: app}]\n")
	renameOver(t, filepath.Join(sites, "a.yaml"), "origins: {b: {servers: [\"http://127.0.0.1:8\"]}}\nroutes: [{name: a, match: {path: /a}, origin: b}]\n")
	got = runBinary(t, "check", file)
	want := fmt.Sprintf("%[1]s: includes %[2]s/a.yaml (routes: 1, origins: 1)\n%[1]s: includes %[2]s/b.yaml (routes: 1, origins: 0)\n%[1]s: ok\n", file, sites)
	if got.code != exitDone || got.stdout != want || got.stderr != "" {
		t.Errorf("got %d %q %q, want %q", got.code, got.stdout, got.stderr, want)
	}
	renameOver(t, filepath.Join(sites, "a.yaml"), "routes:\n  - {name: a, match: {path: /a}, origin: app, access: {basic_auth: {users_file: /nowhere/users}}, error_pages: {404: /nowhere/x}}\n")
	got = runBinary(t, "check", file)
	for _, want := range []string{sites + "/a.yaml:2:", "users_file: /nowhere/users: ", "error_pages.404: /nowhere/x: "} {
		if got.code != exitUsage || !strings.Contains(got.stderr, want) {
			t.Errorf("files that settings name: got %d %q, want %q in it", got.code, got.stderr, want)
		}
	}
}

// A file in the folder that is new, changed or removed is applied, by a watch that the folder got with a change of the file itself.
func TestIncludedFilesAreAppliedWhenTheyChange(t *testing.T) {
	t.Parallel()
	app := cachedOrigin(t)
	c := serveFile(t, fmt.Sprintf("origins: {app: {servers: [%q]}}\nroutes: [{name: own, match: {path: /own}, origin: app}]\n", app))
	sites := filepath.Join(filepath.Dir(c.path), "sites")
	if err := os.Mkdir(sites, 0o700); err != nil {
		t.Fatal(err)
	}
	status := func(path string, want int) {
		t.Helper()
		eventually(t, fmt.Sprintf("%s is %d", path, want), func() bool {
			res, _ := get(t, "http://"+c.address+path)
			return res.StatusCode == want
		})
	}
	status("/a", http.StatusNotFound)
	c.write(fmt.Sprintf("include: sites\norigins: {app: {servers: [%q]}}\nroutes: [{name: own, match: {path: /own}, origin: app}]\n", app))
	eventually(t, "the file is applied", func() bool { return c.logged("INFO", "configuration reloaded") })
	renameOver(t, filepath.Join(sites, "a.yaml"), "routes: [{name: a, match: {path: /a}, respond: {status: 418}}]\n")
	status("/a", http.StatusTeapot)
	renameOver(t, filepath.Join(sites, "a.yaml"), "routes: [{name: a, match: {path: /a}, respond: {status: 410}}]\n")
	status("/a", http.StatusGone)
	renameOver(t, filepath.Join(sites, "b.yaml"), "limits: {}\n")
	eventually(t, "a mistake is refused", func() bool { return c.metric("edgeproxy_config_last_reload_successful") == 0 })
	got := c.reload()
	if want := sites + "/b.yaml:1:1: limits: must be in " + c.path + ": an included file has only routes and origins"; got.code != exitUsage || !strings.Contains(got.stderr, want) {
		t.Errorf("reload: got %d %q, want %q", got.code, got.stderr, want)
	}
	status("/a", http.StatusGone)
	for _, name := range []string{"b.yaml", "a.yaml"} {
		if err := os.Remove(filepath.Join(sites, name)); err != nil {
			t.Fatal(err)
		}
	}
	status("/a", http.StatusNotFound)
	status("/own", http.StatusOK)
}
