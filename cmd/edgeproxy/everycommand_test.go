package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"edgeproxy/internal/test/testkit"
)

// A smoke is one run of a command, in the process of the test. In its arguments {admin}, {file}, {origin} and {host} stand for those of
// ownProxy, and {dir} for an empty folder.
type smoke struct {
	args string
	code int
	says string // a part of both outputs
}

// smokes has one for each command by its name. Those that print what they can do, and want another word, are of bad usage alone.
var smokes = map[string]smoke{
	"serve":                 {"serve", exitUsage, "serve needs -c FILE or --origin URL"}, // the proxy that the others ask is served, too
	"demo":                  {"demo --seconds 1 --warm-up 100ms", exitDone, "\nAfter 0:"},
	"simulate":              {"simulate zipf:objects=100,requests=2000", exitDone, "second-hit"},
	"size":                  {"size --keys 1000 --false-positive-rate 0.01", exitDone, "1000"},
	"purge":                 {"purge --admin {admin} --url http://{host}/a", exitDone, "(objects: 1)"},
	"cache":                 {"cache", exitUsage, "cache needs one of stats, ls, verify and drop"},
	"cache stats":           {"cache stats --admin {admin}", exitDone, "\ntier    full   hit of objects"},
	"cache ls":              {"cache ls --admin {admin}", exitDone, "http://{host}/kept\n"},
	"cache verify":          {"cache verify --admin {admin}", exitDone, "damaged: 0\n"},
	"cache drop":            {"cache drop --admin {admin} http://{host}/dropped", exitDone, "(objects: 1)"},
	"state":                 {"state", exitUsage, "state needs fetch"},
	"state fetch":           {"state fetch --from {admin} --secret-file {secret} --to {dir}/sightings", exitFailed, "it remembers no sightings"},
	"origin":                {"origin", exitUsage, "origin needs one of drain and ready"},
	"origin drain":          {"origin drain --admin {admin} app {origin}", exitDone, "app {origin}: drained\n"},
	"origin ready":          {"origin ready --admin {admin} app {origin}", exitDone, "app {origin}: up\n"},
	"reload":                {"reload --admin {admin}", exitDone, "reloaded: {file}\n"},
	"lookup":                {"lookup --admin {admin} http://{host}/kept", exitDone, "hit: It is answered from the cache."},
	"log":                   {"log --admin {admin} --all --once result=hit", exitDone, "http://{host}/kept  hit"},
	"status":                {"status --admin http://{admin}", exitDone, ", ready, up "},
	"top":                   {"top --admin {admin}", exitDone, "http://{host}/kept"},
	"health":                {"health --admin {admin}", exitDone, "ready\n"},
	"man":                   {"man {dir}", exitDone, ""},
	"check":                 {"check -c {file}", exitDone, "{file}: ok\n"},
	"config":                {"config", exitUsage, "config needs one of init, schema and print"},
	"config init":           {"config init", exitDone, "origins:"},
	"config schema":         {"config schema", exitDone, `"$schema"`},
	"config print":          {"config print -c {file}", exitDone, "origins:"},
	"version":               {"version", exitDone, versionLine() + "\n"},
	"completion":            {"completion", exitUsage, "completion needs one of bash"},
	"completion bash":       {"completion bash", exitDone, "bash completion"},
	"completion zsh":        {"completion zsh", exitDone, "zsh completion"},
	"completion fish":       {"completion fish", exitDone, "fish completion"},
	"completion powershell": {"completion powershell", exitDone, "powershell completion"},
	"help":                  {"help serve", exitDone, "Run the proxy, from a file or from flags"},
}

// commandNames returns the names of all commands below this one, without its own.
func commandNames(of *cobra.Command) (names []string) {
	for _, c := range of.Commands() {
		_, name, _ := strings.Cut(c.CommandPath(), " ")
		names = append(append(names, name), commandNames(c)...)
	}
	return names
}

// Each command runs in the quick run, too, which starts no program. A new command needs a smoke of its own.
func TestEveryCommandHasASmoke(t *testing.T) {
	root := commandTree()
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	names := commandNames(root)
	for _, name := range names {
		if _, ok := smokes[name]; !ok {
			t.Errorf("the command %q has no smoke", name)
		}
	}
	for name := range smokes {
		if !slices.Contains(names, name) {
			t.Errorf("there is a smoke of %q, which is no command", name)
		}
	}
	p := serveOwn(t)
	for _, name := range slices.Sorted(maps.Keys(smokes)) {
		t.Run(name, func(t *testing.T) { p.smoke(t, smokes[name]) })
	}
	want := 1 + len(commandNames(commandTree())) // and one of the program
	if pages, err := filepath.Glob(filepath.Join(p.of["{dir}"], "*.1")); err != nil || len(pages) != want {
		t.Errorf("got %d pages of the manual, want %d: %v", len(pages), want, err)
	}
	if page, err := os.ReadFile(filepath.Join(p.of["{dir}"], "edgeproxy.yaml.5")); err != nil || !strings.Contains(string(page), "rotate_every: ") {
		t.Errorf("the manual page of the file: %v, and lacks settings: %.200s", err, page)
	}
	p.end()
	for line := range strings.Lines(p.stderr.String()) {
		if strings.Contains(line, `"WARN"`) || strings.Contains(line, `"ERROR"`) {
			t.Errorf("the proxy said %s", line)
		}
	}
}

// smoke runs a command to its end.
func (p *ownProxy) smoke(t *testing.T, s smoke) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	args, says := s.args, s.says
	for name, is := range p.of {
		args, says = strings.ReplaceAll(args, name, is), strings.ReplaceAll(says, name, is)
	}
	if code := run(t.Context(), strings.Fields(args), &stdout, &stderr); code != s.code || !strings.Contains(stdout.String()+stderr.String(), says) {
		t.Errorf("%s: got %d, %q and %q, want %d and %q", args, code, stdout.String(), stderr.String(), s.code, says)
	}
	if s.code == exitDone && stderr.Len() > 0 {
		t.Errorf("%s: got %q on standard error, want nothing", args, stderr.String())
	}
}

// ownProxy is a proxy that is served by the process of the test.
type ownProxy struct {
	of     map[string]string // what the arguments of a smoke stand for
	stderr *testkit.Buffer
	end    func()
}

const ownFile = `
listen: [{address: "127.0.0.1:0"}]
admin: {address: "127.0.0.1:0"}
origins: {app: {servers: ["ORIGIN"]}}
admission: {policy: always}
fleet: {secret_file: "DIR/secret"}
access_log: {path: "DIR/access.log"}
metrics: {top: {entries: 100}}
cache: {memory: {max_bytes: 4MiB, max_object_bytes: 1MiB}, disk: {path: "DIR/disk", min_free: 0, max_bytes: 64MiB}}
limits: {inflight_bytes: 16MiB}
`

// serveOwn runs the command serve. It has stored /a, /kept and /dropped, and has answered one of them from what it stored.
func serveOwn(t *testing.T) *ownProxy {
	t.Helper()
	keepMemoryLimit(t)
	was := slog.Default()
	t.Cleanup(func() { slog.SetDefault(was); log.SetOutput(os.Stderr); signal.Reset(syscall.SIGPIPE) })
	dir := t.TempDir()
	origin := cachedOrigin(t)
	file := writeFile(t, "edge.yaml", strings.NewReplacer("ORIGIN", origin, "DIR", dir).Replace(ownFile))
	if err := os.WriteFile(filepath.Join(dir, "secret"), []byte(strings.Repeat("x", 40)), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &ownProxy{stderr: &testkit.Buffer{}}
	serving, said := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"serve", "-c", file}, io.Discard, io.MultiWriter(p.stderr, said))
		_ = said.Close()
	}()
	p.end = sync.OnceFunc(func() {
		stop()
		if code := <-ended; code != exitDone {
			t.Errorf("serve: got exit code %d, want %d: %s", code, exitDone, p.stderr)
		}
	})
	t.Cleanup(p.end)
	address, admin := awaitServing(t, serving)
	p.of = map[string]string{"{admin}": admin, "{file}": file, "{host}": address, "{dir}": filepath.Join(dir, "man"), "{secret}": filepath.Join(dir, "secret"), "{origin}": strings.TrimPrefix(origin, "http://")}
	for _, path := range []string{"/a", "/dropped", "/kept", "/kept"} {
		if res, body := get(t, "http://"+address+path); res.StatusCode != 200 || body != "hello\n" {
			t.Errorf("%s: got %d %q", path, res.StatusCode, body)
		}
	}
	eventually(t, "all is on the disk, and logged", func() bool {
		_, stats := get(t, "http://"+admin+"/cache/stats")
		text, err := os.ReadFile(filepath.Join(dir, "access.log"))
		return strings.Contains(stats, `"objects": 3`) && err == nil && bytes.Count(text, []byte("\n")) == 4
	})
	return p
}

// awaitServing reads the log until the proxy serves, and returns its addresses. It takes what comes later, too.
func awaitServing(t *testing.T, from io.Reader) (address, admin string) {
	t.Helper()
	in := json.NewDecoder(from)
	for {
		var l logLine
		if err := in.Decode(&l); err != nil {
			t.Fatalf("the proxy does not serve: %v", err)
		}
		if l.Message == "serving" {
			go func() { _, _ = io.Copy(io.Discard, from) }()
			return l.Addresses[0], l.Admin
		}
	}
}
