package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"edgeproxy/internal/edge"
)

// digestOrigin answers /KEY/BYTES by a body of so many bytes that says what it is: its digest, its key, and a number that grows
// from one response to the next.
type digestOrigin struct {
	url    string
	number atomic.Int64 // the number of the last response
}

func newDigestOrigin(t *testing.T) *digestOrigin {
	t.Helper()
	o := &digestOrigin{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:])
		if err != nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Cache-Control", "max-age=3600")
		w.Header().Set("Surrogate-Key", "all")
		w.Header().Set("Content-Length", strconv.Itoa(n))
		_, _ = w.Write(digested(r.URL.Path, o.number.Add(1), n))
	}))
	t.Cleanup(s.Close)
	o.url = s.URL
	return o
}

// digested returns a body of n bytes, at least 150.
func digested(path string, number int64, n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{byte(number), byte(number >> 8), byte(number >> 16), byte(number >> 24)})
	_, _ = r.Read(b)
	copy(b[64:], fmt.Sprintf(" %s %d \n", path, number))
	sum := sha256.Sum256(b[64:])
	hex.Encode(b, sum[:])
	return b
}

// digestIn checks a body of digestOrigin and returns its number.
func digestIn(path string, body []byte) (number int64, err error) {
	if want := path[strings.LastIndexByte(path, '/')+1:]; strconv.Itoa(len(body)) != want || len(body) < 150 {
		return 0, fmt.Errorf("%s: got %d bytes", path, len(body))
	}
	sum := sha256.Sum256(body[64:])
	if hex.EncodeToString(sum[:]) != string(body[:64]) {
		return 0, fmt.Errorf("%s: the body is not what its digest says%s", path, whereWrong(path, body))
	}
	fields := strings.SplitN(string(body[64:150]), " ", 4)
	if fields[1] != path {
		return 0, fmt.Errorf("%s: got the body of %s", path, fields[1])
	}
	return strconv.ParseInt(fields[2], 10, 64)
}

// whereWrong says which bytes of a body are not those of the response that it says it is.
func whereWrong(path string, body []byte) string {
	fields := strings.SplitN(string(body[64:150]), " ", 4)
	if len(fields) < 3 {
		return fmt.Sprintf(": its beginning is not that of a response: %.100q", body[:100])
	}
	number, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil || fields[1] != path {
		return fmt.Sprintf(": its beginning is not that of a response: %.100q", body[:100])
	}
	want := digested(path, number, len(body))
	first, last, zero := -1, 0, 0
	for i := range body {
		if body[i] == want[i] {
			continue
		}
		if last = i; first < 0 {
			first = i
		}
		if body[i] == 0 {
			zero++
		}
	}
	return fmt.Sprintf(": of response %d bytes %d to %d are others, %d of them zero", number, first, last, zero)
}

// diskFile writes a configuration with a disk tier in folder.
func diskFile(t *testing.T, origin, folder, disk string) string {
	t.Helper()
	return writeFile(t, "edge.yaml", fmt.Sprintf(
		"listen: [{address: \"127.0.0.1:0\"}]\nadmin: {address: \"127.0.0.1:0\"}\norigins: {app: {servers: [%q]}}\nadmission: {policy: always}\n"+
			"cache: {memory: {max_bytes: 4MiB, max_object_bytes: 1MiB}, disk: {path: %q, min_free: 0, %s}}\n", origin, folder, disk))
}

// status returns what /status says of the disk.
func (s *server) diskStatus() (d edge.DiskStatus) {
	s.t.Helper()
	_, text := get(s.t, "http://"+s.admin+"/cache/stats")
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		s.t.Fatalf("%v: %s", err, text)
	}
	return d
}

// wantCached asks for path and wants this beginning of its Cache-Status, and its body.
func (s *server) wantCached(path, want string) {
	s.t.Helper()
	req, err := http.NewRequest(http.MethodGet, "http://"+s.address+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Host = diskHost
	res, body := roundTrip(s.t, req)
	if got := res.Header.Get("Cache-Status"); !strings.HasPrefix(got, "edgeproxy; "+want) {
		s.t.Errorf("%s: got %q, want %q", path, got, want)
	}
	if _, err := digestIn(path, body); err != nil {
		s.t.Error(err)
	}
}

const diskHost = "www.example.com"

// kinds are paths of bodies that lie on the disk in each way: packed, on pages, read in parts; the last is longer than memory takes.
var kinds = []string{"/a/200", "/b/20000", "/c/40000", "/d/100000", "/e/900000", "/f/3000000"}

func TestADiskOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	origin, folder := newDigestOrigin(t), filepath.Join(t.TempDir(), "cache")
	file := diskFile(t, origin.url, folder, "max_bytes: 64MiB")
	s := serveBinary(t, "-c", file)
	for _, path := range kinds {
		s.wantCached(path, "fwd=uri-miss; stored")
		s.wantCached(path, "hit")
	}
	if got := runBinary(t, "purge", "--admin", s.admin, "--url", "http://"+diskHost+kinds[0]); got.code != exitDone {
		t.Errorf("purge: %+v", got)
	}
	s.signal(syscall.SIGTERM)
	s.wantExit(exitDone)

	s = serveBinary(t, "-c", file)
	eventually(t, "the index is full", func() bool { return s.diskStatus().Directories[0].Unfilled == 0 })
	s.wantCached(kinds[0], "fwd=uri-miss; stored")
	for _, path := range kinds[1:] {
		s.wantCached(path, "hit")
	}
	if got := origin.number.Load(); got != int64(len(kinds))+1 {
		t.Errorf("the origin was asked %d times, want %d", got, len(kinds)+1)
	}
	_, text := get(t, "http://"+s.admin+"/metrics")
	for _, line := range []string{
		`edgeproxy_cache_writes_total{tier="disk"} 1`, `edgeproxy_cache_write_bytes_total{tier="disk"} 200`, `edgeproxy_cache_max_bytes{tier="disk"} 6.7108864e+07`,
		`edgeproxy_cache_evictions_total{reason="capacity",tier="disk"} 0`, `edgeproxy_disk_directories{state="up"} 1`, `edgeproxy_disk_refused_total{reason="disk-busy"} 0`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
	if _, text := get(t, "http://"+s.admin+"/readyz"); text != "ready" {
		t.Errorf("/readyz: got %q", text)
	}
}

// TestADirectoryThatGivesNoFileAwayForgotWhatWasAskedFor: a file system without writes past the page cache. Large bodies are read there, as they are for HTTP/2.
func TestADirectoryThatGivesNoFileAwayForgotWhatWasAskedFor(t *testing.T) {
	t.Parallel()
	folder, err := os.MkdirTemp("/dev/shm", "edgeproxy-disk-")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	origin := newDigestOrigin(t)
	s := serveBinary(t, "-c", diskFile(t, origin.url, folder, "max_bytes: 64MiB"))
	client := &http.Client{Transport: &http.Transport{}, Timeout: patience} // on connections that stay: others are sent no files anyway
	defer client.CloseIdleConnections()
	for _, path := range []string{"/d/2000000", "/e/3000000"} { // longer than memory takes
		for i, want := range []string{"fwd=uri-miss; stored", "hit", "hit"} {
			res, err := client.Get("http://" + s.address + path)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(res.Body)
			_ = res.Body.Close()
			if err == nil {
				_, err = digestIn(path, body)
			}
			if got := res.Header.Get("Cache-Status"); err != nil || !strings.HasPrefix(got, "edgeproxy; "+want) {
				t.Errorf("%s, request %d: got %q and %v, want %q", path, i, got, err, want)
			}
		}
	}
}

func TestCacheCommandsOfARunningAndAStoppedProxy(t *testing.T) {
	t.Parallel()
	origin, folder := newDigestOrigin(t), filepath.Join(t.TempDir(), "cache")
	file := diskFile(t, origin.url, folder, "max_bytes: 64MiB")
	s := serveBinary(t, "-c", file)
	for _, path := range kinds {
		s.wantCached(path, "fwd=uri-miss; stored")
	}
	url := func(i int) string { return "http://" + diskHost + kinds[i] }
	run := func(code int, says string, args ...string) string {
		t.Helper()
		got := runBinary(t, append([]string{"cache"}, args...)...)
		if got.code != code || !strings.Contains(got.stdout+got.stderr, says) {
			t.Errorf("%q: got %d %q %q, want %d and %q", args, got.code, got.stdout, got.stderr, code, says)
		}
		return got.stdout
	}
	lists := func(which string, want int, args ...string) {
		t.Helper()
		text := run(exitDone, "", append([]string{"ls"}, args...)...)
		if got := strings.Count(text, "\n"); got != want || want > 0 && !strings.Contains(text, which) {
			t.Errorf("%q: got %d lines, want %d and %q:\n%s", args, got, want, which, text)
		}
	}
	lists("     900000  age ", 6, "--admin", s.admin)
	lists(`{"url":"`+url(4)+`","status":200,"bytes":900000,`, 6, "--admin", s.admin, "--json")
	run(exitDone, "records: 6, bytes: ", "verify", "--admin", s.admin)
	run(exitDone, `"running":true`, "stats", "--admin", s.admin, "--json")
	run(exitDone, "\ndirectory ", "stats", "--admin", s.admin)
	run(exitDone, "(objects: 1)", "drop", "--admin", s.admin, url(0))
	lists(url(4), 5, "--admin", s.admin)
	run(exitFailed, "in use by another process, which does not answer", "ls", "-c", file) // the file's port is 0
	run(exitUsage, "needs URLs, or --all", "drop", "--admin", s.admin)
	run(exitUsage, "cache needs one of")
	s.signal(syscall.SIGTERM)
	s.wantExit(exitDone)

	lists(url(4), 5, "-c", file)
	lists(url(3), 5, "--dir", folder)
	run(exitDone, `"objects":5`, "stats", "--dir", folder, "--json")
	run(exitDone, "\nobjects                   5\n", "stats", "--dir", folder)
	run(exitDone, "records: 5, bytes: ", "verify", "--dir", folder)
	run(exitDone, "(objects: 2)", "drop", "--dir", folder, url(1), "HTTP://WWW.example.com:80"+kinds[2])
	run(exitUsage, "must be an absolute URL", "drop", "--dir", folder, "/a")
	lists(url(4), 3, "--dir", folder)
	damage(t, folder, []byte(" "+kinds[4]+" "))
	run(exitFailed, "offset ", "verify", "--dir", folder)
	run(exitFailed, "records: 3, bytes: ", "verify", "-c", file)

	s = serveBinary(t, "-c", file)
	s.wantCached(kinds[3], "hit")
	s.wantCached(kinds[2], "fwd=uri-miss; stored")
	s.wantCached(kinds[4], "fwd=uri-miss; stored") // damaged
	s.signal(syscall.SIGTERM)
	s.wantExit(exitDone)
	run(exitDone, "dropped: everything", "drop", "--dir", folder, "--all")
	lists("", 0, "--dir", folder)
	run(exitFailed, "no cache was stored in it", "ls", "--dir", t.TempDir())
}

// damage changes a byte behind text in the first segment of folder that has it.
func damage(t *testing.T, folder string, text []byte) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.seg"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if at := strings.Index(string(b), string(text)); at >= 0 {
			b[at+100] ^= 1
			if err := os.WriteFile(f, b, 0o600); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("%q is in no segment of %s", text, folder)
}

func TestADiskThatIsNotOursIsRefused(t *testing.T) {
	t.Parallel()
	origin := newDigestOrigin(t)
	f := func(says string, folder, disk string) {
		t.Helper()
		file := diskFile(t, origin.url, folder, disk)
		for _, command := range []string{"check", "serve"} {
			if got := runBinary(t, command, "-c", file); got.code != exitUsage || !strings.Contains(got.stderr, file+":5:") || !strings.Contains(got.stderr, says) {
				t.Errorf("%s: got %d %q, want %d and %q", command, got.code, got.stderr, exitUsage, says)
			}
		}
	}
	foreign := t.TempDir()
	if err := os.WriteFile(filepath.Join(foreign, "letter.txt"), []byte("dear"), 0o600); err != nil {
		t.Fatal(err)
	}
	f("cache.disk.path", foreign, "max_bytes: 64MiB")
	f("it contains letter.txt", foreign, "max_bytes: 64MiB")

	folder := filepath.Join(t.TempDir(), "cache")
	first := diskFile(t, origin.url, folder, "max_bytes: 64MiB")
	s := serveBinary(t, "-c", first)
	if got := runBinary(t, "check", "-c", first); got.code != exitDone {
		t.Errorf("check while it is in use: got %+v", got)
	}
	if got := runBinary(t, "serve", "-c", first); got.code != exitFailed || !strings.Contains(got.stderr, "in use by another process") {
		t.Errorf("a second proxy on the directory: got %+v", got)
	}
	s.signal(syscall.SIGTERM)
	s.wantExit(exitDone)
}

// A disk is restart-only: a reload says so.
func TestAReloadSaysThatTheDiskNeedsARestart(t *testing.T) {
	t.Parallel()
	origin, folder := newDigestOrigin(t), filepath.Join(t.TempDir(), "cache")
	file := diskFile(t, origin.url, folder, "max_bytes: 64MiB")
	s := serveBinary(t, "-c", file)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), "64MiB", "128MiB", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	got := runBinary(t, "reload", "--admin", s.admin)
	if want := "needs a restart: cache.disk.max_bytes: 64MiB -> 128MiB\n"; got.code != exitDone || !strings.Contains(got.stdout, want) {
		t.Errorf("got %+v, want %q", got, want)
	}
}

// roundTrip sends req on a connection of its own.
func roundTrip(t *testing.T, req *http.Request) (*http.Response, []byte) {
	t.Helper()
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	res, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("%s: %v", req.URL, err)
	}
	return res, body
}
