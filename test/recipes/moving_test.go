package recipes

import (
	"encoding/json"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"edgeproxy/internal/test/testkit"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := testkit.RemoveBuilt(); err != nil && code == 0 {
		code = 1
	}
	os.Exit(code)
}

// serve runs edgeproxy with this file, and without a stage: the pages, and the peers that some of them are compared with, count what is fetched before it is
// stored.
func serve(t *testing.T, text string) *testkit.Served {
	t.Helper()
	file := filepath.Join(t.TempDir(), "edgeproxy.yaml")
	if err := os.WriteFile(file, []byte(withoutStage(text)+"admin: {address: \"127.0.0.1:0\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return testkit.Serve(t, exec.Command(testkit.Built(t), "serve", "-c", file), func(l testkit.LogLine, line string) bool {
		if l.Message == "" || l.Level == "ERROR" {
			t.Errorf("log: %s", line)
		}
		return true
	})
}

// withoutStage turns the stage off in a file.
func withoutStage(file string) string {
	const none = "stage_bytes: 0B"
	for _, place := range [][2]string{
		{"\n  memory: {", "\n  memory: {" + none + ", "}, {"\ncache:\n", "\ncache:\n  memory: {" + none + "}\n"}, {"\ncache: {", "\ncache: {memory: {" + none + "}, "},
	} {
		if changed := strings.Replace("\n"+file, place[0], place[1], 1); changed != "\n"+file {
			return strings.TrimPrefix(changed, "\n")
		}
	}
	return file + "cache: {memory: {" + none + "}}\n"
}

// scrape returns the metrics of the edge with this admin listener.
func scrape(t *testing.T, admin string) testkit.Series {
	t.Helper()
	res, err := http.Get("http://" + admin + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	m, err := testkit.ReadSeries(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// start runs a peer until the end of the test, and returns once it listens at address. What it prints is shown when it
// does not. One that ends before it listens is started again: Traffic Server 9.2.5 now and then crashes while it starts on a busy machine.
func start(t *testing.T, address, program string, arguments ...string) {
	t.Helper()
	var out testkit.Buffer
	for range 3 {
		if listens(t, &out, address, program, arguments) {
			return
		}
	}
	t.Fatalf("%s does not listen: %s", program, out.String())
}

// listens starts a peer, and says whether it listens at address before it ends.
func listens(t *testing.T, out *testkit.Buffer, address, program string, arguments []string) bool {
	t.Helper()
	cmd := exec.Command(program, arguments...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = testkit.Patience // for what a process of its own keeps open
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		// An interrupt is ignored where a shell runs the tests in the background.
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(testkit.Patience):
			t.Errorf("%s does not end: %s", program, out.String())
			_ = cmd.Process.Kill()
			<-ended
		}
	})
	listening := false
	testkit.ComesTrue(func() bool {
		select {
		case <-ended:
			return true
		default:
		}
		c, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			_ = c.Close()
			listening = true
		}
		return listening
	})
	return listening
}

// same compares what the origins of both were asked.
func same(t *testing.T, peer string, theirs, our map[string]int) {
	t.Helper()
	all := maps.Clone(theirs)
	maps.Copy(all, our)
	for target := range all {
		if theirs[target] != our[target] {
			t.Errorf("%s: %s asked the origin %d times, edgeproxy %d times", target, peer, theirs[target], our[target])
		}
	}
}

// keeps fails the test unless edgeproxy has stored so many responses, and counts each request that did not reach the
// origin as a hit.
func keeps(t *testing.T, edge *testkit.Served, all []requests, asked map[string]int, stored float64) {
	t.Helper()
	hits := 0
	for _, r := range all {
		if r.method != "PURGE" { // which is no request for content
			hits += r.times
		}
	}
	for target, n := range asked {
		if !strings.HasPrefix(target, "PURGE ") {
			hits -= n
		}
	}
	var got, kept float64
	if !testkit.ComesTrue(func() bool {
		m := scrape(t, edge.Admin)
		got, kept = 0, 0
		for series, v := range m {
			switch {
			case strings.HasPrefix(series, "edgeproxy_requests_total{") && strings.Contains(series, `result="hit"`):
				got += v
			case strings.HasPrefix(series, "edgeproxy_fills_total{") && strings.Contains(series, `outcome="stored"`):
				kept += v
			}
		}
		return got == float64(hits) && kept == stored
	}) {
		t.Errorf("edgeproxy has %.0f hits and has stored %.0f, want %d and %.0f", got, kept, hits, stored)
	}
}

// stores fails the test unless another proxy comes to have stored so many responses.
func stores(t *testing.T, peer string, want int, stored func() int) {
	t.Helper()
	got := 0
	if !testkit.ComesTrue(func() bool { got = stored(); return got == want }) {
		t.Errorf("%s has stored %d responses, want %d", peer, got, want)
	}
}

// expect looks at some of what an origin was asked, for two proxies that are wrong alike.
func expect(t *testing.T, asked, want map[string]int) {
	t.Helper()
	for target, n := range want {
		if asked[target] != n {
			t.Errorf("%s: the origin was asked %d times, want %d", target, asked[target], n)
		}
	}
}

// TestFromNginx: with min_uses 2 and the same in edgeproxy, both origins get the same requests.
func TestFromNginx(t *testing.T) {
	t.Parallel()
	all := append(story(),
		requests{target: "/missing", times: 4},
		requests{target: "/dated", times: 3},
		requests{target: "/cookie", times: 3},
		requests{target: "/page", times: 2, cookie: "session=1"},
		requests{target: "/page", times: 2, cookie: "other=1"},
	)
	theirs, our := newSite(t), newSite(t)
	dir, address := t.TempDir(), testkit.QuietAddress(t)
	testkit.StartNginx(t, testkit.Nginx(t), dir, nginxConfig(dir, block(t, moving, "nginx",
		originThere, theirs.address(), listenNginx, "listen "+address+";", folderNginx, dir+"/cache", sizeNginx, "max_size=64m")), address)
	edge := serve(t, block(t, moving, "from-nginx",
		originThere, our.address(), listenOurs, `"127.0.0.1:0"`, folderOurs, filepath.Join(t.TempDir(), "cache"), sizeOurs, "64MiB"))

	asked := our.play(t, edge.Addresses[0], all)
	same(t, "nginx", theirs.play(t, address, all), asked)
	expect(t, asked, map[string]int{
		"GET /page": 2 + 2, "GET /once": 1, "GET /static/logo.svg": 2, "GET /static/style.css": 2, "GET /api/list": 3, "GET /private": 3,
		"GET /missing": 2, "GET /dated": 3, "GET /cookie": 3, "POST /form": 2,
	})
	keeps(t, edge, all, asked, 6+2) // /dated is stored to be validated, and the origin answers 200
	stores(t, "nginx", 6, func() (files int) {
		err := filepath.WalkDir(dir+"/cache", func(_ string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				files++
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return files
	})
}

// nginxConfig is a whole file around what the document has for http.
func nginxConfig(dir, section string) string {
	text := "daemon off; worker_processes 1; pid " + dir + "/nginx.pid; error_log " + dir + "/error.log;\nevents {}\nhttp {\naccess_log off;\n"
	for _, temp := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		text += temp + "_temp_path " + dir + "/" + temp + ";\n"
	}
	if os.Geteuid() == 0 { // else its worker is another user, who may not read the folder
		text = "user root;\n" + text
	}
	return text + section + "}\n"
}

// TestFromVarnish: with the policy always both origins get the same requests. With the default what is asked for again costs
// one request more, as the document says.
func TestFromVarnish(t *testing.T) {
	t.Parallel()
	all := append(story(),
		requests{target: "/missing", times: 4},
		requests{target: "/cookie", times: 3},
		requests{target: "/page", times: 2, cookie: "session=1"},
		requests{target: "/page", times: 2, cookie: "other=1"},
		requests{method: "PURGE", target: "/page", times: 1},
		requests{target: "/page", times: 3},
	)
	program := testkit.Program(t, "varnishd", "/usr/sbin/varnishd")
	theirs, our, second := newSite(t), newSite(t), newSite(t)
	host, port, _ := net.SplitHostPort(theirs.address())
	address, work := startVarnish(t, program, block(t, moving, "varnish", `.host = "127.0.0.1"`, `.host = "`+host+`"`, `.port = "3000"`, `.port = "`+port+`"`,
		"acl purgers {\n    \"127.0.0.1\";", "acl purgers {\n    \"127.0.0.0\"/8;"))

	config := func(s *site) []string { return []string{originThere, s.address(), listenOurs, `"127.0.0.1:0"`} }
	edge := serve(t, block(t, moving, "from-varnish", config(our)...))
	asked := our.play(t, edge.Addresses[0], all)
	same(t, "Varnish", theirs.play(t, address, all), asked)
	expect(t, asked, map[string]int{
		"GET /page": 1 + 2 + 1, "GET /once": 1, "GET /static/logo.svg": 1, "GET /static/style.css": 1, "GET /api/list": 3, "GET /private": 3,
		"GET /missing": 1, "GET /cookie": 3,
	})
	// Of /page two, as one is purged.
	keeps(t, edge, all, asked, 8)
	stat := testkit.Program(t, "varnishstat")
	stores(t, "Varnish", 8, func() (stored int) {
		for _, field := range []string{"n_object", "n_obj_purged"} {
			out, err := exec.Command(stat, "-1", "-n", work, "-f", "MAIN."+field).Output()
			words := strings.Fields(string(out))
			if err != nil || len(words) < 2 {
				t.Fatalf("varnishstat: %q and %v", out, err)
			}
			n, err := strconv.Atoi(words[1])
			if err != nil {
				t.Fatal(err)
			}
			stored += n
		}
		return stored - 2 // Varnish keeps as objects that /private and /cookie are not to be stored
	})

	edge = serve(t, block(t, moving, "from-varnish", append(config(second), alwaysPolicy, "")...))
	plain := second.play(t, edge.Addresses[0], all)
	expect(t, plain, map[string]int{"GET /once": 1, "GET /static/logo.svg": 2, "GET /page?a=2": 2, "GET /missing": 2, "GET /api/list": 3})
	keeps(t, edge, all, plain, 7) // what is requested once is not written
}

// startVarnish runs Varnish with this configuration. Work is its folder, by which varnishstat finds it.
func startVarnish(t *testing.T, program, vcl string) (address, work string) {
	t.Helper()
	address = testkit.QuietAddress(t)
	dir, err := os.MkdirTemp("/tmp", "edgeproxy-varnish-") // Varnish reads it as a user of its own
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "default.vcl")
	if err := os.WriteFile(file, []byte(vcl), 0o644); err != nil {
		t.Fatal(err)
	}
	work = filepath.Join(dir, "work")
	start(t, address, program, "-F", "-n", work, "-a", address, "-f", file, "-s", "malloc,64m")
	return address, work
}

// TestFromHAProxy: with the policy always both origins get the same requests.
func TestFromHAProxy(t *testing.T) {
	t.Parallel()
	all := append(story(), requests{target: "/static/page", times: 2, reload: true}, requests{target: "/api/item", times: 2, cookie: "session=1"})
	program := testkit.Program(t, "haproxy")
	theirs, our := newSite(t), newSite(t)
	address := testkit.QuietAddress(t)
	file := filepath.Join(t.TempDir(), "haproxy.cfg")
	text := "defaults\n    mode http\n    timeout connect 3s\n    timeout client 30s\n    timeout server 30s\n" +
		block(t, moving, "haproxy", originThere, theirs.address(), "bind :8080", "bind "+address)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, address, program, "-db", "-f", file)
	edge := serve(t, block(t, moving, "from-haproxy", originThere, our.address(), listenOurs, `"127.0.0.1:0"`))

	asked := our.play(t, edge.Addresses[0], all)
	same(t, "HAProxy", theirs.play(t, address, all), asked)
	expect(t, asked, map[string]int{
		"GET /page": 1 + 2, "GET /once": 1, "GET /static/logo.svg": 1, "GET /static/style.css": 1, "GET /static/page": 2, "GET /api/list": 3, "GET /private": 3,
	})
}

// TestFromTrafficServer: with cache_promote at two hits and the default of edgeproxy, both origins get the same requests.
func TestFromTrafficServer(t *testing.T) {
	t.Parallel()
	all := append(story(), requests{target: "/dated", times: 3})
	theirs, our := newSite(t), newSite(t)
	address := testkit.QuietAddress(t)
	startTrafficServer(t, address, trafficFiles{
		remap:   block(t, moving, "trafficserver-remap", originThere, theirs.address()),
		cache:   block(t, moving, "trafficserver-cache"),
		records: block(t, moving, "trafficserver-records"),
	})
	edge := serve(t, block(t, moving, "from-trafficserver",
		originThere, our.address(), listenOurs, `"127.0.0.1:0"`, folderOurs, filepath.Join(t.TempDir(), "cache"), sizeOurs, "64MiB"))

	asked := our.play(t, edge.Addresses[0], all)
	same(t, "Traffic Server", theirs.play(t, address, all), asked)
	expect(t, asked, map[string]int{
		"GET /page": 2, "GET /once": 1, "GET /static/logo.svg": 2, "GET /static/style.css": 2, "GET /api/list": 3, "GET /private": 3, "GET /dated": 3,
	})
	keeps(t, edge, all, asked, 5+2) // /dated as from nginx
	stores(t, "Traffic Server", 5, func() int {
		res, err := http.Get("http://" + address + "/_stats")
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var stats struct{ Global map[string]string }
		if err := json.NewDecoder(res.Body).Decode(&stats); err != nil {
			t.Fatal(err)
		}
		n, err := strconv.Atoi(stats.Global["proxy.process.cache.write.success"])
		if err != nil {
			t.Fatal(err)
		}
		return n
	})
}
