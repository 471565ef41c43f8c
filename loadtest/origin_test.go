package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"
)

func TestOriginServesExactObjects(t *testing.T) {
	sizes := []int64{1, 2, 5000, bodyBufferBytes, 3*bodyBufferBytes + 17}
	targets := []string{"/one", "/two?q=%2F", "/some", "/buffer", "/big"}
	lines := "url\tbytes\n"
	for i, target := range targets {
		lines += fmt.Sprintf("%s\t%d\n", target, sizes[i])
	}
	o, err := startOrigin(replayOf(lines), 90*time.Minute, 1, bodyBufferBytes)
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{Transport: &http.Transport{}}
	defer func() {
		client.CloseIdleConnections()
		if err := o.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}()
	get := func(target, ifNoneMatch string) (*http.Response, []byte) {
		t.Helper()
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+o.addr+target, http.NoBody)
		if ifNoneMatch != "" {
			req.Header.Set("If-None-Match", ifNoneMatch)
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp, body
	}
	var total int64
	var bodies [][]byte
	for i, target := range targets {
		resp, body := get(target, "")
		total += sizes[i]
		bodies = append(bodies, body)
		if resp.StatusCode != 200 || int64(len(body)) != sizes[i] || resp.ContentLength != sizes[i] {
			t.Errorf("%s: status %d, %d bytes, length %d; want 200 and %d", target, resp.StatusCode, len(body), resp.ContentLength, sizes[i])
		}
		if cc, tag := resp.Header.Get("Cache-Control"), resp.Header.Get("ETag"); cc != "max-age=5400" || tag != etag(uint32(i), sizes[i]) {
			t.Errorf("%s: Cache-Control %q, ETag %q", target, cc, tag)
		}
		if got, over := resp.Header.Get("X-Accel-Expires"), sizes[i] > bodyBufferBytes; (got == "0") != over {
			t.Errorf("%s, %d bytes: X-Accel-Expires %q; want 0 above %d bytes, else none", target, sizes[i], got, bodyBufferBytes)
		}
		if _, err := http.ParseTime(resp.Header.Get("Last-Modified")); err != nil {
			t.Errorf("%s: Last-Modified: %v", target, err)
		}
		if _, err := http.ParseTime(resp.Header.Get("Date")); err != nil {
			t.Errorf("%s: Date: %v", target, err)
		}
	}
	if bytes.Equal(bodies[2], bodies[3][:5000]) {
		t.Error("two objects have the same bytes")
	}
	if _, again := get("/big", ""); !bytes.Equal(again, bodies[4]) {
		t.Error("an object's bytes changed")
	}
	total += sizes[4]
	if resp, body := get("/some", etag(2, 5000)); resp.StatusCode != 304 || len(body) != 0 {
		t.Errorf("conditional: status %d, %d bytes; want 304", resp.StatusCode, len(body))
	}
	if resp, _ := get("/other", ""); resp.StatusCode != 404 {
		t.Errorf("unknown target: status %d, want 404", resp.StatusCode)
	}
	if got, want := o.requests.Load(), int64(len(targets)+3); got != want {
		t.Errorf("requests: got %d, want %d", got, want)
	}
	if got := o.bytes.Load(); got != total {
		t.Errorf("bytes: got %d, want %d", got, total)
	}
	if got, bytes := o.oversized.Load(), o.oversizedBytes.Load(); got != 2 || bytes != 2*sizes[4] {
		t.Errorf("oversized: got %d of %d bytes, want /big twice", got, bytes)
	}
	if got := o.unknown.Load(); got != 1 {
		t.Errorf("unknown: got %d, want 1", got)
	}
}

// TestOriginClosedAtOnceEnds: a server that is told to stop before it has begun
// must not then begin.
func TestOriginClosedAtOnceEnds(t *testing.T) {
	closed := make(chan error)
	go func() {
		defer close(closed)
		for range 200 {
			o, err := startOrigin(objects(1), time.Hour, 1, 0)
			if err == nil {
				err = o.Close()
			}
			if err != nil {
				closed <- err
				return
			}
		}
	}()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("Close hangs")
	}
}
