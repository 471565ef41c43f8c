package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// below returns what is in a folder: names, kinds and lengths.
func below(t *testing.T, folder string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && !info.IsDir() {
			path += fmt.Sprintf(" %s %d", info.Mode(), info.Size())
		}
		all = append(all, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// check passed files whose folders are not there, and serve did not start, with no word about the place in the file.
func TestCheckPassedFoldersThatServeFoundMissing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	plain := file("plain")
	for _, err := range []error{
		os.WriteFile(plain, nil, 0o600), os.Symlink(file("gone/log"), file("link")), os.Symlink(file("gone/disk"), file("disklink")),
		os.Symlink(plain, file("statelink")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	before := below(t, dir)
	f := func(text, want string) {
		t.Helper()
		config := writeFile(t, "edge.yaml", "origins: {app: {servers: [\"http://127.0.0.1:9\"]}}\n"+text+"\n")
		for _, command := range []string{"check", "serve"} {
			got := runBinary(t, command, "-c", config)
			if line := config + ":2:" + want + "\n"; got.code != exitUsage || got.stderr != line || got.stdout != "" {
				t.Errorf("%s: got %d %q %q, want %d %q", command, got.code, got.stdout, got.stderr, exitUsage, line)
			}
		}
		if after := below(t, dir); !slices.Equal(before, after) {
			t.Errorf("%s: left behind: got %q, want %q", text, after, before)
		}
	}
	const missing, noFolder, aFolder = ": no such file or directory", ": not a directory", ": is a directory"
	const state = "must be a file in a folder that can be written to: "
	f(fmt.Sprintf("admission: {state: %q}", "/nowhere/s"), "20: admission.state: /nowhere/s: "+state+"open /nowhere"+missing)
	f(fmt.Sprintf("admission: {state: %q}", dir), "20: admission.state: "+dir+": "+state+"not a regular file")
	f(fmt.Sprintf("admission: {state: %q}", file("statelink")), "20: admission.state: "+file("statelink")+": "+state+"not a regular file")

	const lines = "must be a file that lines can be added to: "
	f(fmt.Sprintf("access_log: {path: %q}", "/nowhere/a.log"), "20: access_log.path: /nowhere/a.log: "+lines+"open /nowhere"+missing)
	f(fmt.Sprintf("access_log: {path: %q}", dir), "20: access_log.path: "+dir+": "+lines+"open "+dir+aFolder)
	f(fmt.Sprintf("access_log: {path: %q}", plain+"/log"), "20: access_log.path: "+plain+"/log: "+lines+"stat "+plain+"/log"+noFolder)
	f(fmt.Sprintf("access_log: {path: %q}", file("link")), "20: access_log.path: "+file("link")+": "+lines+"open "+file("gone")+missing)

	const own = "must be a directory of its own: "
	f(fmt.Sprintf("cache: {disk: {path: %q}}", plain+"/disk"), "22: cache.disk.path: "+plain+"/disk: "+own+"open "+plain+"/disk"+noFolder)
	f(fmt.Sprintf("cache: {disk: {path: %q}}", file("disklink")), "22: cache.disk.path: "+file("disklink")+": "+own+"mkdir "+file("disklink")+": file exists")
}

// What serve makes by itself is right, and check leaves it to serve.
func TestCheckOpensNothingForGood(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(file("old.log"), []byte("line\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file("torn"), []byte("edge"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("new.log", file("link")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(file("pipe"), 0o600); err != nil {
		t.Skip(err)
	}
	before := below(t, dir)
	f := func(text, says string) {
		t.Helper()
		config := writeFile(t, "edge.yaml", "origins: {app: {servers: [\"http://127.0.0.1:9\"]}}\n"+text+"\n")
		if got := runBinary(t, "check", "-c", config); got.code != exitDone || !strings.Contains(got.stderr, says) || says == "" && got.stderr != "" {
			t.Errorf("%s: got %d %q, want %d %q", text, got.code, got.stderr, exitDone, says)
		}
		if after := below(t, dir); !slices.Equal(before, after) {
			t.Errorf("%s: left behind: got %q, want %q", text, after, before)
		}
	}
	for _, log := range []string{"old.log", "new.log", "link", "pipe"} {
		f(fmt.Sprintf("access_log: {path: %q}", file(log)), "")
	}
	f("access_log: {path: /dev/null}", "")
	f(`access_log: {path: "-"}`, "")
	f(fmt.Sprintf("admission: {state: %q}", file("new")), "")
	f(fmt.Sprintf("admission: {state: %q}", file("torn")), ":2:20: admission.state: "+file("torn")+": sightings of the last run are not used: ")
	f(fmt.Sprintf("cache: {disk: {path: %q}}", file("a/b/disk")), "")
}

// A reload opens no log, so that one whose folder is gone keeps it from nothing.
func TestAReloadDoesNotTryWhatIsOpen(t *testing.T) {
	t.Parallel()
	logs := filepath.Join(t.TempDir(), "logs")
	if err := os.Mkdir(logs, 0o700); err != nil {
		t.Fatal(err)
	}
	text := func(ranges int, log string) string {
		return fmt.Sprintf("listen: [{address: \"127.0.0.1:0\"}]\nadmin: {address: \"127.0.0.1:0\"}\norigins: {app: {servers: [%q]}}\nlimits: {ranges: %d}\naccess_log: {path: %q}\n",
			cachedOrigin(t), ranges, log)
	}
	config := writeFile(t, "edge.yaml", text(7, logs+"/a.log"))
	s := serveBinary(t, "-c", config)
	if err := os.RemoveAll(logs); err != nil {
		t.Fatal(err)
	}
	f := func(content string, code int, says string) {
		t.Helper()
		if err := os.WriteFile(config, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := runBinary(t, "reload", "--admin", s.admin); got.code != code || !strings.Contains(got.stdout+got.stderr, says) {
			t.Errorf("got %d %q %q, want %d and %q", got.code, got.stdout, got.stderr, code, says)
		}
	}
	f(text(8, logs+"/a.log"), exitDone, "")
	f(text(8, logs+"/b.log"), exitUsage, config+":5:20: access_log.path: ")
}
