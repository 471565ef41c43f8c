package main

import (
	"bytes"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// TestABrokenBodyIsNoWholeOneToHTTP10OverTLS: where the end of the connection ends the
// body, the end of TLS told the client that a body that had broken off was whole.
func TestABrokenBodyIsNoWholeOneToHTTP10OverTLS(t *testing.T) {
	t.Parallel()
	seen := make(chan struct{})
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "short")
		w.(http.Flusher).Flush()
		<-seen
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(origin.Close)
	s := serveTLS(t, origin.URL, "")
	c, err := tls.Dial("tcp", s.address, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	_, _ = io.WriteString(c, "GET / HTTP/1.0\r\nHost: www.example.com\r\n\r\n")
	var got []byte
	for !bytes.HasSuffix(got, []byte("short")) && err == nil {
		var b [1]byte
		_, err = c.Read(b[:])
		got = append(got, b[0])
	}
	close(seen)
	if rest, err := io.ReadAll(c); err == nil {
		t.Errorf("got %q and %q to a clean end, want the connection to break", got, rest)
	}
}
