package admin

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// guesses has requests with an Authorization come from an address, and checks that each gets 401.
func guesses(t *testing.T, s *Server, n int, from, authorization string) {
	t.Helper()
	for range n {
		r := httptest.NewRequest(http.MethodGet, "http://localhost/status", nil)
		r.RemoteAddr = from
		if authorization != "" {
			r.Header.Set("Authorization", authorization)
		}
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, r); w.Code != http.StatusUnauthorized {
			t.Fatalf("%q: got %d, want 401", authorization, w.Code)
		}
	}
}

// Guesses of the admin token were in no metric and no log. A line for each would fill the log.
func TestWrongTokensLeftNoTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log record
		o := options()
		o.Token, o.Log = secret, slog.New(slog.NewTextHandler(&log, nil))
		s := mustNew(t, o)
		told := func(want ...string) {
			t.Helper()
			synctest.Wait()
			lines := strings.Split(strings.TrimSpace(log.String()), "\n")
			if len(lines) != len(want) {
				t.Fatalf("got %d lines, want %d: %q", len(lines), len(want), lines)
			}
			for i, line := range lines {
				if !strings.Contains(line, "level=WARN") || !strings.HasSuffix(line, want[i]) {
					t.Errorf("got the line %s, want %s", line, want[i])
				}
			}
		}
		guesses(t, s, 3, "192.0.2.9:1", "") // what has no token is no guess
		guesses(t, s, 2000, "192.0.2.1:1234", "Bearer x")
		first := "client=192.0.2.1 requests=1"
		told(first)
		time.Sleep(wrongTokenEvery)
		told(first, "client=192.0.2.1 requests=1999")
		guesses(t, s, 1, "[2001:db8::1]:1", "Basic eDp5")
		guesses(t, s, 1, "@", "Bearer "+secret+"x")
		told(first, "client=192.0.2.1 requests=1999")
		time.Sleep(wrongTokenEvery)
		told(first, "client=192.0.2.1 requests=1999", "client=unix requests=2")
		time.Sleep(wrongTokenEvery + time.Second)
		guesses(t, s, 2, "192.0.2.2:1", "Bearer x") // a minute without any has passed
		told(first, "client=192.0.2.1 requests=1999", "client=unix requests=2", "client=192.0.2.2 requests=1")
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
		told(first, "client=192.0.2.1 requests=1999", "client=unix requests=2", "client=192.0.2.2 requests=1", "client=192.0.2.2 requests=1")
		if got := s.WrongTokens(); got != 2004 {
			t.Errorf("got %d counted, want 2004", got)
		}
		if strings.Contains(log.String(), secret) {
			t.Error("the log has the token")
		}
	})
}

// The count is that of the process, whatever token was in force.
func TestWrongTokensAreCountedOverAReload(t *testing.T) {
	o := options()
	o.Token = secret
	s := mustNew(t, o)
	guesses(t, s, 2, "192.0.2.1:1", "Bearer x")
	o.Token = "another-one"
	use, err := s.Prepare(o)
	if err != nil {
		t.Fatal(err)
	}
	use()
	guesses(t, s, 1, "192.0.2.1:1", "Bearer "+secret)
	if got := s.WrongTokens(); got != 3 {
		t.Errorf("got %d, want 3", got)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
