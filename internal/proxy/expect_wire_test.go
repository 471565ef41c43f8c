package proxy_test

import (
	"fmt"
	"net/http"
	"net/http/httptrace"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const asNobody = "Authorization: Basic YW5uOnk=\r\n" // ann:y

// annsRoute is a route below a path for ann, whose password is x.
func annsRoute(t testing.TB, below string) (yaml string) {
	t.Helper()
	users := filepath.Join(t.TempDir(), "users")
	if err := os.WriteFile(users, []byte("ann:$2y$05$abcdefghijklmnopqrstuuhKF09ZYWwH2zP/0fwE1X8e/Q1YNx/hO"), 0o600); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("- {name: staff, origin: app, match: {path_prefix: %s}, access: {basic_auth: {users_file: %s, realm: staff}}}\n", below, users)
}

// guarded are a route for ann, one for other addresses than those of tests, and one for two requests an hour.
func guarded(t *testing.T) (yaml string) {
	t.Helper()
	return "routes:\n" + annsRoute(t, "/staff") + `
- {name: elsewhere, origin: app, match: {path_prefix: /elsewhere}, access: {allow: [192.0.2.0/24]}}
- {name: seldom, origin: app, match: {path_prefix: /seldom}, limits: {rate: {requests: 2, per: 1h, burst: 2}}}
- {name: rest, origin: app}
`
}

// TestNo100ContinueWithoutAccess: a client that gets 401, 403 or 429 is not told before to send its content (RFC 9110 section 10.1.1).
func TestNo100ContinueWithoutAccess(t *testing.T) {
	w := &recordingOrigin{}
	e, _ := startBefore(t, guarded(t), w.script)
	f := func(want, path, fields string) {
		t.Helper()
		post := "POST " + path + " HTTP/1.1\r\nHost: h\r\n" + fields + "Expect: 100-continue\r\nContent-Length: 3\r\n\r\nabc"
		if got := statuses(t, e, post+smuggled); got != want {
			t.Errorf("%s %q: got %s, want %s", path, fields, got, want)
		}
		seen, _ := w.take()
		if want := strings.HasPrefix(want, "100 200"); want != (len(seen) == 2 && seen[0] == "POST h "+path+" abc") {
			t.Errorf("%s %q: the origin got %q", path, fields, seen)
		}
	}
	f("403", "/elsewhere", "")
	f("403", "/elsewhere/../x", "")
	f("401", "/staff", "")
	f("401", "/staff", asNobody)
	f("401", "/staff", "Authorization: Bearer x\r\n")
	f("100 200 200", "/staff", asAnn)
	f("100 200 200", "/staff", asAnn) // remembered
	// Each request is one for the rate, though it is looked at twice.
	f("100 200 200", "/seldom", "")
	f("100 200 200", "/seldom", "")
	f("429", "/seldom", "")
}

// The same by HTTP/2, where the connection goes on.
func TestNo100ContinueWithoutAccessByHTTP2(t *testing.T) {
	w := &recordingOrigin{}
	e, _ := startBefore(t, guarded(t), w.script)
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	client := &http.Client{Transport: &http.Transport{Protocols: protocols, ExpectContinueTimeout: patience}}
	defer client.CloseIdleConnections()
	address := startHTTP2(t, e)
	f := func(path, authorization string, want int, goesOn bool) {
		t.Helper()
		told := false
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got100Continue: func() { told = true }})
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+path, strings.NewReader("abc"))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Expect", "100-continue")
		if _, value, ok := strings.Cut(strings.TrimSpace(authorization), ": "); ok {
			r.Header.Set("Authorization", value)
		}
		res, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != want || told != goesOn {
			t.Errorf("%s %q: got %d, told to continue: %v, want %d and %v", path, authorization, res.StatusCode, told, want, goesOn)
		}
		if seen, _ := w.take(); goesOn != (len(seen) == 1) {
			t.Errorf("%s %q: the origin got %q", path, authorization, seen)
		}
	}
	f("/elsewhere", "", 403, false)
	f("/staff", "", 401, false)
	f("/staff", asNobody, 401, false)
	f("/staff", asAnn, 200, true)
	f("/seldom", "", 200, true)
	f("/seldom", "", 200, true)
	f("/seldom", "", 429, false)
}
