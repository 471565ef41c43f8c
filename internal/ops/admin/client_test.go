package admin

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

func TestAskByEachKindOfAddress(t *testing.T) {
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

	for _, address := range []string{overTCP.Listener.Addr().String(), overTCP.URL, overTCP.URL + "/", "HTTP" + overTCP.URL[4:], "unix:" + path} {
		f := func(want, method, path, token string, body []byte) {
			t.Helper()
			if err := CheckAddress(address); err != nil {
				t.Errorf("%s: got %v", address, err)
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
}

// An operator who copied the URL of the dashboard was told to write HOST:PORT.
func TestAnAddressOfAWrongFormIsToldWhatIsWanted(t *testing.T) {
	f := func(address, want string) {
		t.Helper()
		err := CheckAddress(address)
		if !errors.Is(err, ErrAddress) || err.Error() != want {
			t.Errorf("%q: got %v, want %q", address, err, want)
		}
	}
	for _, address := range []string{"", "edge", "127.0.0.1", "127.0.0.1:", "a b:1", "127.0.0.1:1/status", "a@b:1", "http://", "http://:80", "http:127.0.0.1:1", "http://[::1:80"} {
		f(address, wantAddress)
	}
	f("unix:", "must be the path of a socket behind unix:")
	f("ftp://127.0.0.1:1", `unknown scheme "ftp": `+wantAddress)
	f("://127.0.0.1:1", `unknown scheme "": `+wantAddress)
	f("http://127.0.0.1:1/status", "must have no path behind the host: http://127.0.0.1:1")
	f("https://edge.example/?a", "must be nothing behind the host: https://edge.example")
	f("http://127.0.0.1:1#", "must be nothing behind the host: http://127.0.0.1:1")
	f("http://:secret@127.0.0.1:1", "must have no user in the URL: the token comes from a file or the environment")
	for _, address := range []string{"127.0.0.1:1", ":1", "[::1]:1", "edge.example:1", "https://edge.example", "http://[::1]:1/", "unix:/run/a.sock", "unix:a"} {
		if err := CheckAddress(address); err != nil {
			t.Errorf("%q: got %v", address, err)
		}
	}
}

// The certificate is that of a proxy in front of the listener.
func TestAskByHTTPSChecksTheCertificate(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	if _, err := Ask(t.Context(), s.URL, http.MethodGet, "/livez", "", nil); !isUnknownAuthority(err) {
		t.Errorf("got %v, want a certificate that nobody known has signed", err)
	}
	if _, err := Ask(t.Context(), "https://"+overPlain(t), http.MethodGet, "/livez", "", nil); !isNoTLS(err) {
		t.Errorf("got %v, want an answer that is not TLS", err)
	}
}

func isUnknownAuthority(err error) bool {
	_, ok := errors.AsType[x509.UnknownAuthorityError](err)
	return ok
}

func isNoTLS(err error) bool {
	_, ok := errors.AsType[tls.RecordHeaderError](err)
	return ok
}

// overPlain returns the address of a server without TLS.
func overPlain(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}
