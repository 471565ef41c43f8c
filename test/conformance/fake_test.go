package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// fakeEdge is set where this program is to play edgeproxy.
const fakeEdge = "CONFORMANCE_FAKE_EDGE"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "serve" && os.Getenv(fakeEdge) != "" {
		os.Exit(serveFake(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// serveFake is an edgeproxy that stores nothing. It tells the origin its policy, and ends
// with 1 at once if it was told a file that is not there.
func serveFake(args []string) int {
	if len(args) != 4 || args[0] != "-c" || args[2] != "--policy" {
		fmt.Fprintf(os.Stderr, "want -c FILE --policy NAME, got %q\n", args)
		return 1
	}
	if _, err := os.Stat(args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	origin, err := url.Parse(os.Getenv("SUITE_ORIGIN"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(origin)
		r.Out.Header.Set("Policy", args[3])
	}}
	go func() { _ = http.Serve(l, proxy) }()
	_ = json.NewEncoder(os.Stderr).Encode(map[string]any{"msg": "serving", "addresses": []string{l.Addr().String()}})
	<-stop
	return 0
}

// needNode skips a test that runs suite.mjs where Node.js is not there.
func needNode(t *testing.T) {
	t.Helper()
	testkit.Slow(t, "it starts Node.js")
	testkit.Plain(t, "Node.js does the work")
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("Node.js is not there")
	}
}

// write makes files below dir.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// fakeSuite makes a suite of the npm release's layout. Its client asks the origin once for
// each request of a test and takes the last answer, JSON, for what is to be said of it.
func fakeSuite(t *testing.T, tests string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"package.json":    `{"name": "http-cache-tests", "version": "9"}`,
		"tests/index.mjs": `export default [` + tests + `]`,
		"client/runner.mjs": `
const results = {}
export async function runTests (groups, fetch, browser, base, parallel) {
  console.log('the suite talks')
  for (const t of groups.flatMap(g => g.tests)) {
    if (t.dump) console.log('dump ' + t.id)
    if (t.hangs) await new Promise(() => setInterval(() => {}, 1000))
    await fetch(base + '/config/' + t.id, { method: 'PUT', body: JSON.stringify(t.requests) })
    let last
    for (const r of t.requests) last = await fetch(base + '/test/' + t.id + (r.query_arg ? '?' + r.query_arg : ''), {})
    results[t.id] = JSON.parse(await last.text())
  }
}
export const getResults = () => results
`,
		"server/handle-config.mjs": `export default ([id], request, response) => request.resume().on('end', () => response.end())`,
		"server/handle-state.mjs":  `export default ([id], request, response) => response.end()`,
		// What a test asks of the origin is in its id.
		"server/handle-test.mjs": `
const asked = new Map()
export default ([id], request, response) => {
  const n = (asked.get(id) ?? 0) + 1
  asked.set(id, n)
  const policy = request.headers.policy
  const holds = { 'only-always': policy === 'always', 'second-time': n > 1, never: false }
  const answer = id in holds ? holds[id] : true
  response.end(JSON.stringify(answer || ['Assertion', id + ' under ' + policy]))
}`,
		"node_modules/node-fetch/package.json": `{"name": "node-fetch", "main": "index.js"}`,
		"node_modules/node-fetch/index.js":     `module.exports = (url, init) => fetch(url, init)`,
	})
	return dir
}
