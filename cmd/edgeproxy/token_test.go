package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
)

const adminSecret = "0123456789abcdef-the-token"

// asked asks the admin listener with an Authorization field, "" for none.
func (s *server) asked(t *testing.T, path, authorization string) int {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, "http://"+s.admin+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode
}

func TestAdminTokenOfAFile(t *testing.T) {
	t.Parallel()
	token := writeFile(t, "token", "\n "+adminSecret+"\r\n")
	s := serveBinary(t, "-c", writeFile(t, "edge.yaml", fmt.Sprintf(`
listen: [{address: "127.0.0.1:0"}]
admin: {address: "127.0.0.1:0", token_file: %q, pprof: true}
origins: {app: {servers: [%q]}}
`, token, cachedOrigin(t))))
	for path, want := range map[string]int{"/livez": 200, "/metrics": 200, "/status": 401, "/debug/pprof/": 401} {
		if got := s.asked(t, path, ""); got != want {
			t.Errorf("%s without a token: got %d, want %d", path, got, want)
		}
	}
	if _, page := get(t, "http://"+s.admin+"/"); !strings.Contains(page, `data-token="required"`) {
		t.Error("the dashboard does not know that a token is wanted, and would provoke a 401")
	}
	for _, path := range []string{"/status", "/debug/pprof/"} {
		if got := s.asked(t, path, "Bearer "+adminSecret); got != 200 {
			t.Errorf("%s with the token: got %d, want 200", path, got)
		}
	}
	f := func(code int, says, variable string, flags ...string) {
		t.Helper()
		cmd := exec.Command(program(t), append([]string{"purge", "--all", "--admin", s.admin}, flags...)...)
		cmd.Env = append(os.Environ(), tokenVariable+"="+variable)
		out, _ := cmd.CombinedOutput()
		if got := cmd.ProcessState.ExitCode(); got != code || !strings.Contains(string(out), says) {
			t.Errorf("purge %q, variable %q: got %d %q, want %d and %q", flags, variable, got, out, code, says)
		}
	}
	f(exitFailed, ": needs the admin token: set EDGEPROXY_ADMIN_TOKEN or give --token-file", "")
	f(exitFailed, "the token is not the admin token", "another")
	f(exitDone, "purged: everything", adminSecret)
	f(exitDone, "purged: everything", "another", "--token-file", token)
	if got := s.value(t, "edgeproxy_admin_wrong_tokens_total"); got != "1" {
		t.Errorf("got %q wrong tokens counted, want 1", got)
	}
	for _, l := range s.lines() {
		if strings.Contains(l.Message+l.Error, adminSecret) {
			t.Errorf("the log shows the token: %v", l)
		}
	}
}

func TestAdminTokensRefused(t *testing.T) {
	t.Parallel()
	f := func(admin, want string) {
		t.Helper()
		section := "admin: " + admin
		if strings.HasPrefix(want, "purge.") {
			section = "purge: " + admin
		}
		file := writeFile(t, "edge.yaml", "origins: {app: {servers: [\"http://127.0.0.1:9\"]}}\n"+section+"\n")
		for _, command := range []string{"check", "serve"} {
			got := runBinary(t, command, "-c", file)
			if got.code != exitUsage || !strings.Contains(got.stderr, want) || strings.Contains(got.stderr, "two words") {
				t.Errorf("%s %s: got %d %q, want %d and %q", command, admin, got.code, got.stderr, exitUsage, want)
			}
		}
	}
	f(`{address: "0.0.0.0:0"}`, "admin.address: 0.0.0.0:0: needs admin.token_file or admin.token beside it")
	f(`{token_file: /nowhere/token}`, "admin.token_file: /nowhere/token: must be a file with a token: no such file or directory")
	f(`{token_file: /nowhere/token}`, "purge.token_file: /nowhere/token: must be a file with a token: no such file or directory")
	f(fmt.Sprintf(`{token_file: %q}`, t.TempDir()), "must be a file with a token: is a directory")
	f(fmt.Sprintf(`{token_file: %q}`, writeFile(t, "empty", "\n")), "must be a file with a token: one word")
	f(fmt.Sprintf(`{token_file: %q}`, writeFile(t, "words", "two words")), "must be a file with a token: one word")
}

func TestTokenThatEverybodyReadsIsWarnedOf(t *testing.T) {
	t.Parallel()
	token := writeFile(t, "token", adminSecret)
	file := writeFile(t, "edge.yaml", fmt.Sprintf("origins: {app: {servers: [\"http://127.0.0.1:9\"]}}\nadmin: {token_file: %q}\n", token))
	if got := runBinary(t, "check", "-c", file); got.code != exitDone || got.stderr != "" {
		t.Errorf("got %d %q, want nothing said", got.code, got.stderr)
	}
	if err := os.Chmod(token, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := runBinary(t, "check", "-c", file); got.code != exitDone || !strings.Contains(got.stderr, "everybody on this machine can read the token") {
		t.Errorf("got %d %q, want a warning", got.code, got.stderr)
	}
	file = writeFile(t, "purge.yaml", fmt.Sprintf("origins: {app: {servers: [\"http://127.0.0.1:9\"]}}\npurge: {token_file: %q}\n", token))
	if got := runBinary(t, "check", "-c", file); got.code != exitDone || !strings.Contains(got.stderr, "purge.token_file: ") {
		t.Errorf("got %d %q, want a warning of the other token", got.code, got.stderr)
	}
}

// TestPurgeTokenOfAFile: the token that clients need to purge is read at the start and at each reload, and shown nowhere.
func TestPurgeTokenOfAFile(t *testing.T) {
	t.Parallel()
	const first, second = "first-token-of-purges", "second-token-of-purges"
	token := writeFile(t, "token", first+"\n")
	s := serveBinary(t, "-c", writeFile(t, "edge.yaml", fmt.Sprintf(`
listen: [{address: "127.0.0.1:0"}]
admin: {address: "127.0.0.1:0"}
origins: {app: {servers: [%q]}}
purge: {allow: [127.0.0.1], token_file: %q}
`, cachedOrigin(t), token)))
	f := func(authorization string, want int) {
		t.Helper()
		r, err := http.NewRequest("PURGE", "http://"+s.address+"/a", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", authorization)
		res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%q: got %d, want %d", authorization, res.StatusCode, want)
		}
	}
	f("Bearer "+first, http.StatusOK)
	f("Bearer "+second, http.StatusUnauthorized)
	f(first, http.StatusUnauthorized)
	if err := os.WriteFile(token, []byte(second), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := runBinary(t, "reload", "--admin", s.admin); got.code != exitDone {
		t.Fatalf("reload: got %d %q", got.code, got.stderr)
	}
	f("Bearer "+second, http.StatusOK)
	f("Bearer "+first, http.StatusUnauthorized)
	for _, l := range s.lines() {
		if strings.Contains(l.Message+l.Error, "token-of-purges") {
			t.Errorf("the log shows the token: %v", l)
		}
	}
}
