package peers

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestNginxHasWhatItIsGiven(t *testing.T) {
	n := Nginx{Main: "worker_processes 1;", HTTP: "	server { listen 1; }"}
	f := func(euid int, user bool) {
		t.Helper()
		text := n.Text(euid)
		if !strings.Contains(text, "\nworker_processes 1;\n") || !strings.Contains(text, "\tserver { listen 1; }\n}\n") || strings.Contains(text, "user root;") != user {
			t.Errorf("user %d:\n%s", euid, text)
		}
	}
	f(0, true)
	f(1000, false)
}

func TestTrafficServerHasWhatItIsGiven(t *testing.T) {
	program := filepath.Join(t.TempDir(), "bin/traffic_server")
	files := TrafficServer{
		Program: program, Dir: "/home", Cache: "/dev/shm/x", CacheBytes: 16_000_000, Listen: "127.0.0.1:1", Origin: "127.0.0.1:3",
		Plugins: "@plugin=x.so", Records: "CONFIG a INT 1\n", Files: map[string]string{"logging.yaml": "logging:"},
	}.files()
	for name, want := range map[string]string{
		"runroot.yaml":       "libexecdir: " + filepath.Dir(filepath.Dir(program)) + "/libexec/trafficserver\n",
		"etc/records.config": "server_ports STRING 1:ip-in=127.0.0.1\n",
		"etc/storage.config": "/dev/shm/x 16000000\n",
		"etc/remap.config":   "map / http://127.0.0.1:3/ @plugin=x.so\n",
		"etc/logging.yaml":   "logging:",
	} {
		if !strings.Contains(files[name], want) || strings.Contains(files[name], "%!") {
			t.Errorf("%s lacks %q:\n%s", name, want, files[name])
		}
	}
	if !strings.HasSuffix(files["etc/records.config"], "ram_cache.size INT 0\nCONFIG a INT 1\n") {
		t.Errorf("the records lack what is given:\n%s", files["etc/records.config"])
	}
	debian := filepath.Join(filepath.Dir(filepath.Dir(program)), "lib/trafficserver/modules")
	if err := os.MkdirAll(debian, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := Modules(program); got != debian {
		t.Errorf("got %s, want %s, which is there", got, debian)
	}
}

func TestAProgramThatIsNotInstalledIsAnError(t *testing.T) {
	if _, err := Find("no-such-proxy"); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("got %v, want that it is not found", err)
	}
	path := filepath.Join(t.TempDir(), "proxy")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := Find(path); err != nil || got != path {
		t.Errorf("got %s, %v, want %s", got, err, path)
	}
}
