package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

// socketApp answers on a socket by what it was asked for: path, Host, and who the client is.
func socketApp(t *testing.T, path string) {
	t.Helper()
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/well" && r.Host != "localhost" {
			w.WriteHeader(http.StatusMisdirectedRequest)
			return
		}
		w.Header().Set("Cache-Control", "max-age=600")
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		_, _ = fmt.Fprintf(w, "%s %s %s %s %q", r.Method, r.URL.Path, r.Host, r.Header.Get("X-Forwarded-For"), body)
	}))
	_ = s.Listener.Close()
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
}

func TestAnOriginOnASocket(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, "app.sock")
	socketApp(t, path)
	f := func(name, origin string, ask func(s *server)) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			s := serveBinary(t, "-c", writeFile(t, "edge.yaml",
				"listen: [{address: \"127.0.0.1:0\"}]\nadmin: {address: \"127.0.0.1:0\"}\nadmission: {policy: always}\norigins: {app: {"+origin+"}}\n"))
			ask(s)
		})
	}
	wants := func(s *server, target, want string) {
		s.t.Helper()
		if _, body := get(s.t, "http://"+s.address+target); body != want {
			s.t.Errorf("%s: got %q, want %q", target, body, want)
		}
	}
	quoted := fmt.Sprintf("%q", "unix:"+path)
	f("of the client", "servers: ["+quoted+"]", func(s *server) {
		for range 2 {
			wants(s, "/a", "GET /a "+s.address+` 127.0.0.1 ""`)
		}
		wants(s, "/b", "GET /b "+s.address+` 127.0.0.1 ""`)
		res, err := http.Post("http://"+s.address+"/c", "text/plain", strings.NewReader("upload"))
		if err != nil {
			s.t.Fatal(err)
		}
		defer res.Body.Close()
		if body, err := io.ReadAll(res.Body); err != nil || string(body) != "POST /c "+s.address+` 127.0.0.1 "upload"` {
			s.t.Errorf("got %q, %v", body, err)
		}
		eventually(s.t, "three requests are counted", func() bool {
			_, text := get(s.t, "http://"+s.admin+"/metrics")
			return strings.Contains(text, "edgeproxy_origin_requests_total{origin=\"app\",outcome=\"ok\"} 3\n")
		})
		if _, text := get(s.t, "http://"+s.admin+"/status"); !strings.Contains(text, `"address": `+quoted) {
			s.t.Errorf("/status does not name the server: %s", text)
		}
	})
	f("of the server", "servers: ["+quoted+"], host_header: server", func(s *server) {
		wants(s, "/a", `GET /a localhost 127.0.0.1 ""`)
	})
	f("a literal", "servers: ["+quoted+"], host_header: app.example", func(s *server) {
		wants(s, "/a", `GET /a app.example 127.0.0.1 ""`)
	})
	f("beside one that is gone", fmt.Sprintf("servers: [%q, {url: %s, weight: 2}]", "unix:"+filepath.Join(folder, "gone.sock"), quoted), func(s *server) {
		for i := range 6 {
			target := fmt.Sprint("/a", i)
			wants(s, target, "GET "+target+" "+s.address+` 127.0.0.1 ""`)
		}
	})
	f("that is gone", fmt.Sprintf("servers: [%q]", "unix:"+filepath.Join(folder, "gone.sock")), func(s *server) {
		if res, _ := get(s.t, "http://"+s.address+"/a"); res.StatusCode != http.StatusBadGateway {
			s.t.Errorf("got %d, want 502", res.StatusCode)
		}
	})
	f("that is asked whether it is well", fmt.Sprintf("servers: [%q, %s], health: {path: /well, interval: 1s}", "unix:"+filepath.Join(folder, "gone.sock"), quoted), func(s *server) {
		eventually(s.t, "the one that is gone is down", func() bool {
			_, text := get(s.t, "http://"+s.admin+"/status")
			return strings.Contains(text, `"state": "down"`)
		})
		wants(s, "/a", "GET /a "+s.address+` 127.0.0.1 ""`)
	})
}

func TestSocketsOfOriginsRefused(t *testing.T) {
	t.Parallel()
	f := func(origin, want string) {
		t.Helper()
		file := writeFile(t, "edge.yaml", "origins: {app: {"+origin+"}}\n")
		if got := runBinary(t, "check", "-c", file); got.code != exitUsage || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: got %d %q, want %d %q", origin, got.code, got.stderr, exitUsage, want)
		}
	}
	f(`servers: ["https://unix:/run/app.sock"]`, ":1:27: origins.app.servers[0]: https://unix:/run/app.sock: must be unix:/PATH, without http:// before it and without TLS")
	f(`servers: ["unix:app.sock"]`, "origins.app.servers[0]: unix:app.sock: must be unix: and the path of a socket in the file system, which begins with / and has at most 107 bytes")
	f(`servers: ["unix:/run/app.sock"], tls: {server_name: app}`, "origins.app.tls: remove the section: no server is https")
	f(`servers: ["unix:/run/a.sock", "unix:/run/a.sock"]`, "each server must be listed once")
}
