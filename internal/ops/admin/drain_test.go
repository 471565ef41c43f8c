package admin

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// drains records what was asked of servers. None of the origin bad is known.
type drains struct {
	mu   sync.Mutex
	done []string
}

// DrainServer implements Drainer.
func (d *drains) DrainServer(origin, server string, out bool) (string, error) {
	if origin == "bad" {
		return "", errors.New("origin \"bad\": there is none of this name")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.done = append(d.done, fmt.Sprint(origin, " ", server, " ", out))
	return map[bool]string{true: "drained", false: "down"}[out], nil
}

func TestServersAreDrainedAndReadyAgain(t *testing.T) {
	d := &drains{}
	o := options()
	o.Drainer, o.Token = d, "a-token-of-operators"
	g := serve(t, mustNew(t, o))
	f := func(body string, status int, want string) {
		t.Helper()
		got := g.do(http.MethodPost, "/origins", body, "Authorization", "Bearer a-token-of-operators")
		if got.status != status || strings.TrimSpace(got.body) != want {
			t.Errorf("%s: got %d %s, want %d %s", body, got.status, got.body, status, want)
		}
	}
	f(`{"origin": "app", "server": "a:80", "state": "drain"}`, 200, `{"origin":"app","server":"a:80","state":"drained"}`)
	f(`{"origin": "app", "server": "a:80", "state": "ready"}`, 200, `{"origin":"app","server":"a:80","state":"down"}`)
	form := `{"error":"must be a JSON object with origin, server and state, such as {\"origin\": \"app\", \"server\": \"10.0.0.1:9000\", \"state\": \"drain\"}"}`
	f(`{"origin": "app", "server": "a:80"}`, 400, form)
	f(`{"origin": "app", "server": ["a:80"], "state": "drain"}`, 400, form)
	f(`{"origin": "app", "server": "a:80", "state": "drained"}`, 400, `{"error":"state: \"drained\": must be ready or drain"}`)
	f(`{"origin": "app", "server": "a:80", "state": "drain", "soft": true}`, 400, `{"error":"\"soft\": unknown key"}`)
	f(`{"origin": "bad", "server": "a:80", "state": "drain"}`, 400, `{"error":"origin \"bad\": there is none of this name"}`)
	if got := g.do(http.MethodPost, "/origins", "{"+strings.Repeat(" ", maxDrainBody)+"}", "Authorization", "Bearer a-token-of-operators"); got.status != http.StatusRequestEntityTooLarge {
		t.Errorf("a long body: got %d, want 413", got.status)
	}
	if got := g.do(http.MethodGet, "/origins", "", "Authorization", "Bearer a-token-of-operators"); got.status != http.StatusMethodNotAllowed {
		t.Errorf("GET: got %d, want 405", got.status)
	}
	if got := g.do(http.MethodPost, "/origins", `{"origin": "app", "server": "b:80", "state": "drain"}`); got.status != http.StatusUnauthorized {
		t.Errorf("without the token: got %d, want 401", got.status)
	}
	if got := strings.Join(d.done, ", "); got != "app a:80 true, app a:80 false" {
		t.Errorf("got %q done", got)
	}
}
