package proxy_test

import (
	"crypto/sha256"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// ordersCertificates has certificates ordered, from an authority that nobody runs.
const ordersCertificates = `
listen: [{address: "127.0.0.1:0"}, {address: "127.0.0.1:0", tls: true}]
tls: {acme: {
  names: [example.com], accept_terms: true, directory: "https://127.0.0.1:1/dir", storage: "{dir}/acme", challenges: [http-01],
}}
`

// authority starts an authority for certificates (RFC 8555) that waits for ever for the answer to its challenge, whose token is known. It
// returns a file with its root.
func authority(t *testing.T) (directory, ca string) {
	t.Helper()
	var base string
	says := func(status int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Replay-Nonce", "nonce")
			w.Header().Set("Location", base+r.URL.Path+"/1")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, strings.ReplaceAll(text, "{base}", base))
		}
	}
	const challenge = `{"type": "http-01", "url": "{base}/challenge", "token": "known", "status": "pending"}`
	const identifier = `{"type": "dns", "value": "example.com"}`
	mux := http.NewServeMux()
	mux.Handle("/dir", says(200, `{"newNonce": "{base}/nonce", "newAccount": "{base}/account", "newOrder": "{base}/order"}`))
	mux.Handle("/nonce", says(200, ""))
	mux.Handle("/account", says(201, `{"status": "valid"}`))
	mux.Handle("/order", says(201, `{"status": "pending", "identifiers": [`+identifier+`], "authorizations": ["{base}/authorization"], "finalize": "{base}/finalize"}`))
	mux.Handle("/authorization", says(200, `{"status": "pending", "identifier": `+identifier+`, "challenges": [`+challenge+`]}`))
	mux.Handle("/challenge", says(200, challenge))
	server := httptest.NewTLSServer(mux)
	t.Cleanup(server.Close)
	base, ca = server.URL, filepath.Join(t.TempDir(), "ca.pem")
	root := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(ca, root, 0o600); err != nil {
		t.Fatal(err)
	}
	return base + "/dir", ca
}

// authorization is a key authorization of the token (RFC 8555 section 8.1).
var authorization = regexp.MustCompile(`^known\.[\w-]{43}$`)

// TestChallengesAreAnsweredHere: those that are known, and nothing else below the path.
func TestChallengesAreAnsweredHere(t *testing.T) {
	directory, ca := authority(t)
	e := start(t, fmt.Sprintf(`
listen: [{address: "127.0.0.1:0"}, {address: "127.0.0.1:0", tls: true}]
tls: {acme: {
  names: [example.com], accept_terms: true, directory: %q, ca: %q, storage: "{dir}/acme", challenges: [http-01],
}}`, directory, ca), hitOrigin(t))
	const path = "/.well-known/acme-challenge/"
	eventually(t, "the challenge is known", func() bool { return ask(t, e, asGet(path+"known")).status == http.StatusOK })
	f := func(method, path, host string, ours bool) {
		t.Helper()
		r, err := http.NewRequest(method, "http://"+e.Address+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Error(err)
		}
		thumbprint := sha256.Size*4/3 + 1 // in base64
		right := authorization.Match(text)
		if method == http.MethodHead {
			right = len(text) == 0
		}
		if got := res.StatusCode == http.StatusOK && right && res.ContentLength == int64(len("known.")+thumbprint) && res.Header.Get("Cache-Control") == "no-store"; got != ours {
			t.Errorf("%s %s: got %d, %q, %v, want it answered here: %v", method, path, res.StatusCode, text, res.Header, ours)
		}
		if asked := strings.Contains(res.Header.Get("Cache-Status"), "fwd="); asked == ours {
			t.Errorf("%s %s: got Cache-Status %q, want the origin asked: %v", method, path, res.Header.Get("Cache-Status"), !ours)
		}
	}
	f("GET", path+"known", "example.com", true)
	f("GET", path+"known", "of-no-route.example:8080", true)
	f("GET", path+"known?query", "example.com", true)
	f("HEAD", path+"known", "example.com", true)
	f("POST", path+"known", "example.com", false)
	f("GET", path+"known/", "example.com", false)
	f("GET", path+"%6bnown", "example.com", true) // another spelling of it
	f("GET", path+"other", "example.com", false)
	f("GET", path, "example.com", false)
	f("GET", "/.well-known/acme-challenge", "example.com", false)
}
