package faults

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"
)

// beOrigin is the variable that makes the test binary an origin at this address, so
// that a test has one to kill.
const beOrigin = "EDGEPROXY_FAULTS_ORIGIN"

// content is what the origin has under a path: another one for each, so that no mix of
// two and no part of one passes for a whole.
func content(path string, size int) []byte {
	line := []byte(path + " of " + strconv.Itoa(size) + "\n")
	return bytes.Repeat(line, size/len(line)+1)[:size]
}

// answer is the origin. The query says how: cc is the Cache-Control, size the length,
// and frame "chunked" or "close" leaves out Content-Length. A POST is answered with what
// it brought.
func answer(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if r.Method == http.MethodPost {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		_, _ = w.Write(body)
		return
	}
	size, _ := strconv.Atoi(q.Get("size"))
	body := content(r.URL.Path, size)
	w.Header().Set("Cache-Control", q.Get("cc"))
	w.Header().Set("Content-Type", "text/plain")
	switch q.Get("frame") {
	case "chunked":
		for len(body) > 0 {
			n := min(len(body), 4<<10)
			_, _ = w.Write(body[:n])
			body = body[n:]
			_ = http.NewResponseController(w).Flush()
		}
	case "close":
		w.Header().Set("Transfer-Encoding", "identity") // net/http's word for no framing
		_, _ = w.Write(body)
	default:
		w.Header().Set("ETag", `"`+strconv.Itoa(size)+`"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
	}
}

// startOrigin starts an origin in this process and returns its address. One that closes
// ends each connection after one answer.
func startOrigin(t *testing.T, closes bool) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(answer))
	s.Config.SetKeepAlivesEnabled(!closes)
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// serveOrigin is an origin of its own process.
func serveOrigin(address string) error {
	return (&http.Server{Addr: address, Handler: http.HandlerFunc(answer), ReadHeaderTimeout: patience}).ListenAndServe()
}

// spawnOrigin starts an origin as a process of its own and waits until it accepts
// connections. The function that it returns kills it, as the kernel would, and waits.
func spawnOrigin(t *testing.T, address string) (kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), beOrigin+"="+address)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	t.Cleanup(kill)
	eventually(t, "the origin accepts connections", func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return kill
}
