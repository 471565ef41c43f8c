package demo

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
)

// startOrigin starts an origin for the test.
func startOrigin(t *testing.T) *Origin {
	t.Helper()
	o, err := StartOrigin()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	})
	return o
}

// fetch sends a request and reads the answer.
func fetch(t *testing.T, method, url, ifNoneMatch string) (*http.Response, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if ifNoneMatch != "" {
		r.Header.Set("If-None-Match", ifNoneMatch)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, body
}

func TestOriginServesCacheableObjectsWithValidators(t *testing.T) {
	url := "http://" + startOrigin(t).Address() + "/mine?x=1"
	want := objectOf([]byte("/mine?x=1"))
	res, body := fetch(t, http.MethodGet, url, "")
	if res.StatusCode != http.StatusOK || len(body) != want.bytes {
		t.Fatalf("got status %d and %d bytes, want 200 and %d", res.StatusCode, len(body), want.bytes)
	}
	for name, want := range map[string]string{
		"Cache-Control": "max-age=3600", "Etag": want.etag(), "Last-Modified": lastModified,
		"Content-Length": itoa(want.bytes), "Content-Type": "text/plain; charset=utf-8",
	} {
		if got := res.Header.Get(name); got != want {
			t.Errorf("got %s: %q, want %q", name, got, want)
		}
	}
	if res.Header.Get("Date") == "" {
		t.Error("got no Date, want one: a cache takes the age from it")
	}
	if _, again := fetch(t, http.MethodGet, url, ""); !bytes.Equal(again, body) {
		t.Error("the second answer has other bytes, want the same")
	}
	if _, other := fetch(t, http.MethodGet, strings.TrimSuffix(url, "1")+"2", ""); bytes.Equal(other, body) {
		t.Error("another target has the same bytes, want others")
	}
}

func TestOriginAnswersByMethodAndValidator(t *testing.T) {
	url := "http://" + startOrigin(t).Address() + "/mine"
	tag := objectOf([]byte("/mine")).etag()
	f := func(method, ifNoneMatch string, status int, withBody bool) {
		t.Helper()
		res, body := fetch(t, method, url, ifNoneMatch)
		if res.StatusCode != status || (len(body) > 0) != withBody {
			t.Errorf("%s with If-None-Match %q: got status %d and %d bytes, want %d and a body: %v",
				method, ifNoneMatch, res.StatusCode, len(body), status, withBody)
		}
		if status != http.StatusMethodNotAllowed && res.Header.Get("Etag") != tag {
			t.Errorf("%s: got ETag %s, want %s", method, res.Header.Get("Etag"), tag)
		}
	}
	f(http.MethodGet, tag, http.StatusNotModified, false)
	f(http.MethodGet, `"other"`, http.StatusOK, true)
	f(http.MethodHead, "", http.StatusOK, false)
	f(http.MethodPost, "", http.StatusMethodNotAllowed, true)
}

// The largest object of all places must lie within the text.
func TestOriginHasBytesForEveryObject(t *testing.T) {
	o := &Origin{text: newText()}
	for _, hash := range []uint64{0, 1, 1<<64 - 1, uint64(len(o.text) - MaxObjectBytes)} {
		if got := len(o.body(object{hash: hash, bytes: MaxObjectBytes})); got != MaxObjectBytes {
			t.Errorf("hash %d: got %d bytes, want %d", hash, got, MaxObjectBytes)
		}
	}
}

func TestOriginCloseEndsServing(t *testing.T) {
	o, err := StartOrigin()
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Close(); err != nil { // perhaps before Serve has begun
		t.Fatal(err)
	}
	if res, err := http.Get("http://" + o.Address() + "/"); err == nil {
		res.Body.Close()
		t.Errorf("got status %d after Close, want no connection", res.StatusCode)
	}
}
