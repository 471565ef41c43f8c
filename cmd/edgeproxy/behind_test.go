package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
)

// TestACutIsSeenInHTTP2: a client that has fallen behind and cannot be given the rest gets
// RST_STREAM, and no end of its stream; its connection stays.
func TestACutIsSeenInHTTP2(t *testing.T) {
	t.Parallel()
	const size, begin = 8 << 20, 64 << 10
	text := bytes.Repeat([]byte("0123456789abcdef"), size/16)
	for _, sized := range []bool{false, true} {
		goOn := make(chan struct{})
		origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/quick" {
				return
			}
			w.Header().Set("Cache-Control", "max-age=600")
			if sized {
				w.Header().Set("Content-Length", strconv.Itoa(size))
			}
			_, _ = w.Write(text[:begin])
			w.(http.Flusher).Flush()
			<-goOn
			_, _ = w.Write(text[begin:])
		}))
		t.Cleanup(origin.Close)
		s := serveTLS(t, origin.URL, "cache: {memory: {max_object_bytes: 16MiB}}\nlimits: {inflight_bytes: 1MiB, response_buffer: 64KiB, request_buffer: 16KiB}\nroutes: [{name: all, origin: app, admission: {policy: never}}]")
		t.Cleanup(func() {
			select {
			case <-goOn:
			default:
				close(goOn)
			}
		})
		ask := func(two bool, to func(*http.Response)) {
			res, err := s.speaks(t, two).Get("https://www.example.com/a")
			if err != nil {
				t.Fatal(err)
			}
			to(res)
		}
		one := s.speaks(t, true)
		get := func(path string) *http.Response {
			res, err := one.Get("https://www.example.com" + path)
			if err != nil {
				t.Fatal(err)
			}
			if res.ProtoMajor != 2 {
				t.Fatalf("got %s", res.Proto)
			}
			return res
		}
		slow := get("/a") // no more of it is read than its window of flow control
		ask(false, func(fast *http.Response) {
			if status := fast.Header.Get("Cache-Status"); !strings.Contains(status, "; collapsed") {
				t.Fatalf("got %q, want a shared fetch", status)
			}
			close(goOn)
			if body, err := io.ReadAll(fast.Body); err != nil || !bytes.Equal(body, text) {
				t.Errorf("the other client got %d bytes, %v", len(body), err)
			}
		})
		got, err := io.ReadAll(slow.Body)
		if err == nil || !strings.Contains(err.Error(), "stream error") || !bytes.HasPrefix(text, got) || len(got) == size {
			t.Errorf("a length %v: got %d bytes and %v, want RST_STREAM", sized, len(got), err)
		}
		if res := get("/quick"); res.StatusCode != http.StatusOK {
			t.Errorf("got %d on the same connection", res.StatusCode)
		}
		if n := metric(t, s.metricsAtRest(), `edgeproxy_readers_behind_total{rest="cut",route="all"}`); n != 1 {
			t.Errorf("%d readers were cut off, want 1", n)
		}
	}
}
