package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestADrainedServerGetsNoRequestsUntilItIsReady is a running program and the command beside it. A reload that changes the origin does not end it.
func TestADrainedServerGetsNoRequestsUntilItIsReady(t *testing.T) {
	t.Parallel()
	a, b := startNamed(t, "a"), startNamed(t, "b")
	file := func(most int) string {
		return fmt.Sprintf("origins: {app: {servers: [%q, %q], max_connections: %d}}\nadmission: {policy: never}\n", a.URL, b.URL, most)
	}
	c := serveFile(t, file(10))
	answering := func() string {
		seen := map[string]bool{}
		for range 6 {
			res, body := get(t, "http://"+c.address+"/")
			seen[fmt.Sprint(res.StatusCode, " ", strings.Fields(body + " -")[0])] = true
		}
		var all []string
		for _, name := range []string{"200 a", "200 b"} {
			if seen[name] {
				all = append(all, name)
			}
			delete(seen, name)
		}
		for other := range seen {
			all = append(all, other)
		}
		return strings.Join(all, ", ")
	}
	order := func(state, server, says string, code int) {
		t.Helper()
		got := runBinary(t, "origin", state, "--admin", c.admin, "app", server)
		if got.code != code || !strings.Contains(got.stdout+got.stderr, says) {
			t.Errorf("%s %s: got %d %q %q, want %d and %q", state, server, got.code, got.stdout, got.stderr, code, says)
		}
	}
	want := func(when, answers, states string) {
		t.Helper()
		if got := answering(); got != answers {
			t.Errorf("%s: got answers of %s, want %s", when, got, answers)
		}
		if got := c.states(); got != states {
			t.Errorf("%s: got the states %s, want %s", when, got, states)
		}
	}
	want("at first", "200 a, 200 b", "up up")
	order("drain", b.address(), "app "+b.address()+": drained\n", exitDone)
	want("one drained", "200 a", "up drained")
	if got := c.change(withPorts(file(11))); got.code != exitDone {
		t.Fatalf("reload: got %d %s", got.code, got.stderr)
	}
	want("after a reload", "200 a", "up drained")
	order("drain", a.address(), "app "+a.address()+": drained\n", exitDone)
	if res, _ := get(t, "http://"+c.address+"/"); res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("all drained: got %d, want 503", res.StatusCode)
	}
	order("ready", b.address(), "app "+b.address()+": up\n", exitDone)
	want("the other one ready", "200 b", "drained up")
	order("drain", "10.0.0.1:1", "origin app has none of this name", exitUsage)
	if !c.logged("INFO", "origin server is drained") || !c.logged("INFO", "origin server is ready") {
		t.Error("the log does not say who was drained, and was ready again")
	}
	if got := runBinary(t, "origin", "drain", "app"); got.code != exitUsage || !strings.Contains(got.stderr, "needs ORIGIN and SERVER") {
		t.Errorf("without a server: got %d %q", got.code, got.stderr)
	}
}
