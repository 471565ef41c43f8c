package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// hashOfX is bcrypt's of x.
const hashOfX = "$2y$05$abcdefghijklmnopqrstuuhKF09ZYWwH2zP/0fwE1X8e/Q1YNx/hO"

// askAs asks for a path by a name and its password.
func (s *server) askAs(t *testing.T, path, name, password string) int {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, "http://"+s.address+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if name != "" {
		r.SetBasicAuth(name, password)
	}
	res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode
}

// TestUsersAreReadAgain with each reload, also of a file of settings that has not changed. One that cannot be read changes nothing.
func TestUsersAreReadAgain(t *testing.T) {
	t.Parallel()
	users := filepath.Join(t.TempDir(), "users")
	put := func(text string) {
		t.Helper()
		if err := os.WriteFile(users, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("ann:" + hashOfX)
	c := serveFile(t, fmt.Sprintf("origins: {app: {servers: [%q]}}\nroutes: [{name: staff, origin: app, access: {basic_auth: {users_file: %q}}}]\n", cachedOrigin(t), users))
	f := func(name, password string, want int) {
		t.Helper()
		if got := c.askAs(t, "/a", name, password); got != want {
			t.Errorf("%s:%s: got %d, want %d", name, password, got, want)
		}
	}
	f("", "", 401)
	f("ann", "x", 200)
	f("ann", "y", 401)
	f("bob", "x", 401)
	put("bob:" + hashOfX)
	if got := c.reload(); got.code != exitDone {
		t.Fatalf("reload: %+v", got)
	}
	f("ann", "x", 401)
	f("bob", "x", 200)
	put("bob:" + hashOfX + "\nann:$apr1$a$b\n")
	got := c.reload()
	if want := "routes[0].access.basic_auth.users_file: " + users + ": line 2: must be a bcrypt hash, as htpasswd -B writes it, not MD5"; got.code != exitUsage || !strings.Contains(got.stderr, want) {
		t.Errorf("reload: got %+v, want %q", got, want)
	}
	f("bob", "x", 200)
}

// TestTheAccessLogNamesUsers who asked, or tried to, on routes that want one, and on no other.
func TestTheAccessLogNamesUsers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	users, path := filepath.Join(dir, "users"), filepath.Join(dir, "access.log")
	if err := os.WriteFile(users, []byte("ann:"+hashOfX), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serveBinary(t, "-c", writeFile(t, "edge.yaml", fmt.Sprintf(`
listen: [{address: "127.0.0.1:0"}]
admin: {address: "127.0.0.1:0"}
origins: {app: {servers: [%q]}}
access: {basic_auth: {users_file: %q}}
access_log: {path: %q, format: template, template: '{target} {status} "{user}"'}
routes: [{name: open, match: {path_prefix: /open}, origin: app, access: {basic_auth: {enabled: false}}}, {name: staff, origin: app}]
`, cachedOrigin(t), users, path)))
	for range 3 { // the last is a hit
		s.askAs(t, "/a", "ann", "x")
	}
	s.askAs(t, "/wrong", "ann", "y")
	s.askAs(t, "/nobody", `a "b" c`, "x")
	s.askAs(t, "/none", "", "")
	s.askAs(t, "/open", "ann", "x")
	s.signal(syscall.SIGTERM)
	s.wantExit(exitDone)
	want := []string{`/a 200 "ann"`, `/a 200 "ann"`, `/a 200 "ann"`, `/nobody 401 "a \x22b\x22 c"`, `/none 401 "-"`, `/open 200 "-"`, `/wrong 401 "ann"`}
	if got := logOf(t, path); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestUsersAreCheckedByPlace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good, bad := filepath.Join(dir, "good"), filepath.Join(dir, "bad")
	for path, text := range map[string]string{good: "ann:" + hashOfX, bad: strings.Repeat("ann:secret\n", 12)} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	path := writeFile(t, "edge.yaml", fmt.Sprintf(`
origins: {app: {servers: ["http://h"]}}
routes:
  - {name: a, match: {path: /a}, origin: app, access: {basic_auth: {users_file: %q}}}
  - {name: b, match: {path: /b}, origin: app, access: {basic_auth: {users_file: %q}}}
  - {name: c, match: {path: /c}, origin: app, access: {basic_auth: {users_file: %q}}}
  - {name: d, origin: app, cache: {key: {headers: [authorization]}}, access: {basic_auth: {users_file: %q}}}
`, bad, dir, filepath.Join(dir, "none"), good))
	got := runBinary(t, "check", "-c", path)
	for _, want := range []string{
		path + ":4:81: routes[0].access.basic_auth.users_file: " + bad + ": line 10: must be a bcrypt hash, as htpasswd -B writes it, not crypt or plain text\n",
		path + ":5:81: routes[1].access.basic_auth.users_file: " + dir + ": must be a file of users: " + dir + ": must be a regular file, not one of mode d",
		path + ":6:81: routes[2].access.basic_auth.users_file: " + filepath.Join(dir, "none") + ": must be a file of users: no such file or directory\n",
		"routes[3].cache.key.headers[0]: authorization: must be another field: a route with basic_auth does not forward it\n",
	} {
		if got.code != exitUsage || !strings.Contains(got.stderr, want) {
			t.Errorf("got %d %s, want %s", got.code, got.stderr, want)
		}
	}
	if strings.Contains(got.stderr, "line 11") || strings.Contains(got.stderr, "secret") {
		t.Errorf("got %s, want ten lines and no secret", got.stderr)
	}
	path = writeFile(t, "edge.yaml", fmt.Sprintf("origins: {app: {servers: [\"http://h\"]}}\nroutes: [{name: a, origin: app, access: {basic_auth: {users_file: %q}}}]\n", good))
	if got := runBinary(t, "check", "-c", path); got.code != exitDone || !strings.Contains(got.stdout+got.stderr, "everybody on this machine can read the password hashes") {
		t.Errorf("got %+v, want a warning", got)
	}
}
