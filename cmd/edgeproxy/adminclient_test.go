package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// Commands repeated what the listener says to a program: which field is missing, or which path. Somebody at a terminal has to know
// where that was, and what to do.
func TestErrorsOfTheAdminListenerDidNotSayWhatToDo(t *testing.T) {
	t.Parallel()
	f := func(want, address string, args ...string) {
		t.Helper()
		got := runBinary(t, append(slices.DeleteFunc(slices.Clone(args), func(s string) bool { return s == "" }), "--admin", address)...)
		if want = fmt.Sprintf("edgeproxy: %s: %s: %s\n", strings.TrimSuffix(args[0]+" "+args[1], " "), address, want); got.code != exitFailed || got.stderr != want || got.stdout != "" {
			t.Errorf("%q: got %d %q %q, want %d %q", args, got.code, got.stdout, got.stderr, exitFailed, want)
		}
	}
	all := func(want func(path string) string, address string) {
		t.Helper()
		for path, args := range map[string][]string{"/status": {"status", ""}, "/top": {"top", ""}, "/requests": {"top", "", "--requests"}, "/purge": {"purge", "", "--all"}} {
			f(want(path), address, args...)
		}
	}
	same := func(text string) func(string) string { return func(string) string { return text } }
	all(same("connect: connection refused; is the proxy running, and is this its admin.address?"), testkit.QuietAddress(t))

	file := writeFile(t, "edge.yaml", fmt.Sprintf(`
listen: [{address: "127.0.0.1:0"}]
admin: {address: "127.0.0.1:0", token: %s}
origins: {app: {servers: [%q]}}
`, adminSecret, cachedOrigin(t)))
	all(same("needs the admin token: set EDGEPROXY_ADMIN_TOKEN or give --token-file"), serveBinary(t, "-c", file).admin)

	noDisk := serveBinary(t, append([]string{"--origin", cachedOrigin(t)}, anyPorts...)...)
	f("it has no /cache/ls: the proxy has no disk tier (cache.disk.path)", noDisk.admin, "cache", "ls")

	answers := func(status int, body string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}))
		t.Cleanup(s.Close)
		return s.Listener.Addr().String()
	}
	all(func(path string) string {
		return "it has no " + path + ": it is metrics.address and not admin.address, or the proxy has another version than this program"
	}, answers(http.StatusNotFound, `{"error":"no such path; /metrics/paths lists those there are"}`))
	all(same(notOurs), answers(http.StatusOK, `{"some":"document"}`)) // purge took it for success
}

// The URL of a page of the listener was told to be HOST:PORT.
func TestAURLOfTheAdminListenerWasRefused(t *testing.T) {
	t.Parallel()
	const want = "must have no path behind the host: http://127.0.0.1:1"
	for _, args := range [][]string{{"status"}, {"top"}, {"log"}, {"health"}, {"reload"}, {"purge", "--all"}, {"cache", "stats"}} {
		mistyped(t, args[0]+": --admin http://127.0.0.1:1/status: "+want, append(args, "--admin", "http://127.0.0.1:1/status")...)
	}
	s := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(s.Close)
	_, err := ask(t.Context(), "https://"+s.Listener.Addr().String(), http.MethodGet, "/status", "", nil)
	if want := "https://" + s.Listener.Addr().String() + ": it does not speak https; needs http:// before the host"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	res, err := ask(t.Context(), s.URL, http.MethodGet, "/status", "", nil)
	if err != nil || res.StatusCode != http.StatusNotFound {
		t.Errorf("%s: got %v, %v", s.URL, res, err)
	} else {
		_ = res.Body.Close()
	}
}

// A file without -c was just an unexpected argument.
func TestAFileWithoutItsFlagIsToldOf(t *testing.T) {
	t.Parallel()
	got := runBinary(t, "serve", "edge.yaml")
	if want := "unexpected argument \"edge.yaml\": needs -c before a file\n"; got.code != exitUsage || !strings.Contains(got.stderr, want) {
		t.Errorf("got %d %q, want %q", got.code, got.stderr, want)
	}
}

// The command for files takes one without a flag, and not two.
func TestCheckTakesAFileWithoutItsFlag(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "edge.yaml", "origins: {app: {servers: [\"http://127.0.0.1:9\"]}}\n")
	if got := runBinary(t, "check", file); got.code != exitDone || !strings.Contains(got.stdout, file+": ok\n") {
		t.Errorf("got %d %q %q, want it ok", got.code, got.stdout, got.stderr)
	}
	for _, args := range [][]string{{"check", file, file}, {"check", "-c", file, file}} {
		if got := runBinary(t, args...); got.code != exitUsage {
			t.Errorf("%q: got %d %q, want %d", args, got.code, got.stderr, exitUsage)
		}
	}
}

// An address as in a configuration, where the host may be empty, got 403: no listener has an empty Host.
func TestAnAddressWithoutAHostWasRefused(t *testing.T) {
	t.Parallel()
	s := serveBinary(t, append([]string{"--origin", cachedOrigin(t)}, anyPorts...)...)
	_, port, _ := strings.Cut(s.admin, ":")
	if got := runBinary(t, "health", "--admin", ":"+port); got.code != exitDone || got.stdout != "ready\n" {
		t.Errorf("got %d %q %q, want it ready", got.code, got.stdout, got.stderr)
	}
}
