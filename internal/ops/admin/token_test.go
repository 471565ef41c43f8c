package admin

import (
	"net/http"
	"strings"
	"testing"
)

const secret = "a-token-of-32-bytes-or-so/+~._=="

// guarded is a server that wants the token.
func guarded(t *testing.T, o Options) *rig {
	t.Helper()
	o.Token = secret
	return serve(t, mustNew(t, o))
}

func TestTokenIsWantedForAllButPageHealthAndMetrics(t *testing.T) {
	p := &purges{}
	o := options()
	o.Purger, o.Profiles = p, true
	g := guarded(t, o)
	for _, path := range []string{"/", "/livez", "/readyz", "/metrics"} {
		if got := g.do("GET", path, "").status; got != http.StatusOK {
			t.Errorf("%s without a token: got %d, want 200", path, got)
		}
	}
	for _, path := range []string{"/status", "/paths", "/debug/pprof/", "/debug/pprof/heap", "/nowhere", "/purge"} {
		a := g.do("GET", path, "")
		if why := g.errorText(a); a.status != http.StatusUnauthorized || !strings.Contains(why, "Bearer") {
			t.Errorf("%s without a token: got %d %q, want 401", path, a.status, why)
		}
		if got := a.header.Get("WWW-Authenticate"); got != `Bearer realm="edgeproxy admin"` {
			t.Errorf("%s: got WWW-Authenticate %q", path, got)
		}
	}
	if got := g.do("POST", "/purge", purgeOne).status; got != http.StatusUnauthorized || p.all() != "" {
		t.Errorf("purge without a token: got %d and %q purged, want 401 and nothing", got, p.all())
	}
	shown := []string{"Authorization", "Bearer " + secret}
	for path, want := range map[string]int{"/status": 200, "/debug/pprof/": 200, "/debug/pprof/goroutine": 200, "/nowhere": 404, "/purge": 405} {
		if got := g.do("GET", path, "", shown...).status; got != want {
			t.Errorf("%s with the token: got %d, want %d", path, got, want)
		}
	}
	if got := g.do("POST", "/purge", "{", shown...).status; got != http.StatusBadRequest {
		t.Errorf("bad JSON: got %d, want 400", got)
	}
	if got := g.do("POST", "/purge", purgeOne, shown...).status; got != http.StatusOK || p.all() == "" {
		t.Errorf("purge with the token: got %d and %q purged", got, p.all())
	}
}

func TestOnlyTheTokenIsTheToken(t *testing.T) {
	g := guarded(t, options())
	f := func(want int, header ...string) {
		t.Helper()
		a := g.do("GET", "/status", "", header...)
		if a.status != want {
			t.Errorf("%q: got %d, want %d", header, a.status, want)
		}
		if strings.Contains(a.body, secret) {
			t.Errorf("%q: the answer repeats the token", header)
		}
	}
	f(200, "Authorization", "Bearer "+secret)
	f(200, "Authorization", "bearer  "+secret)
	f(401, "Authorization", "Bearer")
	f(401, "Authorization", "Bearer ")
	f(401, "Authorization", "Bearer "+secret[:len(secret)-1])
	f(401, "Authorization", "Bearer "+secret+"x")
	f(401, "Authorization", "Bearer "+secret+" x")
	f(401, "Authorization", "Bearer "+strings.ToUpper(secret))
	f(401, "Authorization", "Basic "+secret)
	f(401, "Authorization", secret)
	f(401, "Authorization", "Bearer "+secret, "Authorization", "Bearer "+secret)
	f(401, "Cookie", "token="+secret)
	// The token opens nothing to a foreign page or name.
	f(403, "Authorization", "Bearer "+secret, "Host", "evil.example")
	f(403, "Authorization", "Bearer "+secret, "Origin", "http://evil.example")
	f(403, "Authorization", "Bearer "+secret, "Sec-Fetch-Site", "cross-site")
	if a := g.do("GET", "/status", "", "Authorization", "Bearer x"); !strings.Contains(a.header.Get("WWW-Authenticate"), `error="invalid_token"`) {
		t.Errorf("a wrong token: got WWW-Authenticate %q", a.header.Get("WWW-Authenticate"))
	}
}

func TestProfilesAreThereIfWanted(t *testing.T) {
	f := func(on bool, path string, want int) {
		t.Helper()
		o := options()
		o.Profiles = on
		if got := serve(t, mustNew(t, o)).do("GET", path, "").status; got != want {
			t.Errorf("%s with profiles %v: got %d, want %d", path, on, got, want)
		}
	}
	f(false, "/debug/pprof/", 404)
	f(false, "/debug/pprof/heap", 404)
	f(true, "/debug/pprof/", 200)
	f(true, "/debug/pprof/heap", 200)
	f(true, "/debug/pprof/cmdline", 200)
	f(true, "/debug/pprof/symbol", 200)
	f(true, "/debug/pprof/trace?seconds=0.01", 200)
	f(true, "/debug/pprof/none", 404)
}
