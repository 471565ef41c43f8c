package recipes

import (
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// git runs git in a folder, without the user's settings.
func git(t *testing.T, dir string, arguments ...string) string {
	t.Helper()
	cmd := exec.Command("git", arguments...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_COUNT=3",
		"GIT_CONFIG_KEY_0=user.name", "GIT_CONFIG_VALUE_0=Ann", "GIT_CONFIG_KEY_1=user.email", "GIT_CONFIG_VALUE_1=ann@example.com",
		"GIT_CONFIG_KEY_2=safe.directory", "GIT_CONFIG_VALUE_2=*")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(arguments, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// TestGit: a repository is cloned twice and pushed to through the edge, by git itself.
func TestGit(t *testing.T) {
	testkit.Slow(t, "it starts git")
	testkit.Plain(t, "other programs do the work")
	t.Parallel()
	program := testkit.Program(t, "git")
	root := t.TempDir()
	work := filepath.Join(root, "work")
	git(t, root, "init", "-q", "-b", "main", "work")
	if err := os.WriteFile(filepath.Join(work, "file"), []byte(testkit.Numbered(1<<20)), 0o600); err != nil {
		t.Fatal(err)
	}
	git(t, work, "add", "file")
	git(t, work, "commit", "-q", "-m", "first")
	git(t, root, "clone", "-q", "--bare", "work", "site.git")
	git(t, filepath.Join(root, "site.git"), "config", "http.receivepack", "true")

	b := startRecipe(t, "git", (&cgi.Handler{
		Path: program, Args: []string{"http-backend"},
		Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"},
	}).ServeHTTP, anyPort()...)
	url := "http://" + b.address + "/site.git"
	git(t, root, "clone", "-q", b.origin.URL+"/site.git", "direct")
	direct := b.origin.requests.Load()
	for n, clone := range []string{"zero", "one"} { // nothing is stored, so the origin gets each request
		before := b.origin.requests.Load()
		git(t, root, "clone", "-q", url, clone)
		if got := b.origin.requests.Load() - before; got != direct {
			t.Errorf("clone %d: the origin got %d requests, want the %d of a clone without the edge", n+1, got, direct)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "one", "more"), []byte("more"), 0o600); err != nil {
		t.Fatal(err)
	}
	git(t, filepath.Join(root, "one"), "add", "more")
	git(t, filepath.Join(root, "one"), "commit", "-q", "-m", "second")
	git(t, filepath.Join(root, "one"), "push", "-q", "origin", "main")
	git(t, root, "clone", "-q", url, "two")
	if one, two := git(t, filepath.Join(root, "one"), "rev-parse", "HEAD^{tree}"), git(t, filepath.Join(root, "two"), "rev-parse", "HEAD^{tree}"); one != two {
		t.Errorf("the second clone has %s, want %s", two, one)
	}
	git(t, filepath.Join(root, "two"), "fsck", "--full", "--strict")
}
