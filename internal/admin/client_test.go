package admin

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

func TestAskByBothKindsOfAddress(t *testing.T) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = io.WriteString(w, strings.Join([]string{r.Method, r.URL.RequestURI(), r.Header.Get("Authorization"), string(body)}, " "))
	})
	overTCP := httptest.NewServer(handler)
	t.Cleanup(overTCP.Close)
	path := filepath.Join(t.TempDir(), "admin.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	onSocket := httptest.NewUnstartedServer(handler)
	_ = onSocket.Listener.Close()
	onSocket.Listener = l
	onSocket.Start()
	t.Cleanup(onSocket.Close)
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")

	for _, address := range []string{overTCP.Listener.Addr().String(), "unix:" + path} {
		f := func(want, method, path, token string, body []byte) {
			t.Helper()
			if !IsAddress(address) {
				t.Errorf("%s: got no address", address)
			}
			res, err := Ask(t.Context(), address, method, path, token, body)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(res.Body)
			_ = res.Body.Close()
			if err != nil || string(got) != want {
				t.Errorf("%s: got %q, %v, want %q", address, got, err, want)
			}
		}
		f("GET /top?n=3  ", http.MethodGet, "/top?n=3", "", nil)
		f("POST /purge Bearer secret {}", http.MethodPost, "/purge", "secret", []byte("{}"))
	}
}

func TestAskNamesTheAddressThatFails(t *testing.T) {
	for _, address := range []string{"127.0.0.1:1", "unix:/nowhere/admin.sock"} {
		if _, err := Ask(t.Context(), address, http.MethodGet, "/livez", "", nil); err == nil || !strings.HasPrefix(err.Error(), address+": ") || errors.Is(err, ErrAddress) {
			t.Errorf("%s: got %v", address, err)
		}
	}
	if _, err := Ask(t.Context(), "%zz:1", http.MethodGet, "/livez", "", nil); !errors.Is(err, ErrAddress) {
		t.Errorf("got %v, want %v", err, ErrAddress)
	}
	for _, address := range []string{"", "edge", "127.0.0.1", "127.0.0.1:", "unix:", "http://127.0.0.1:1", "a b:1"} {
		if IsAddress(address) {
			t.Errorf("%q: got an address, want none", address)
		}
	}
}
