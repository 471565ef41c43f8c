package admin

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// shelf is a disk tier that shows lines, and then fails or not.
type shelf struct {
	lines []any
	err   error
}

func (s *shelf) Stats() any { return map[string]int{"objects": len(s.lines)} }

func (s *shelf) List(show func(any) error) error {
	for _, l := range s.lines {
		if err := show(l); err != nil {
			return err
		}
	}
	return s.err
}

func (s *shelf) Verify(show func(any) error) error { return s.List(show) }

func shelved(lines []any, err error) Options {
	o := options()
	o.Disk = &shelf{lines, err}
	return o
}

func TestTheDiskIsShownLineByLine(t *testing.T) {
	f := func(name string, lines []any, err error, method, path string, status int, body string) {
		t.Helper()
		a := serve(t, mustNew(t, shelved(lines, err))).do(method, path, "")
		if a.status != status || a.body != body {
			t.Errorf("%s: got %d %q, want %d %q", name, a.status, a.body, status, body)
		}
	}
	two := []any{map[string]string{"url": "http://h/?a&b"}, map[string]string{"url": "http://h/2"}}
	const text = `{"url":"http://h/?a&b"}` + "\n" + `{"url":"http://h/2"}` + "\n"
	f("stats", two, nil, "GET", "/cache/stats", 200, "{\n  \"objects\": 2\n}\n")
	f("two lines", two, nil, "GET", "/cache/ls", 200, text)
	f("nothing", nil, nil, "GET", "/cache/ls", 200, "")
	f("verified", two, nil, "POST", "/cache/verify", 200, text)
	f("a directory that has failed", nil, errors.New("disk: off"), "GET", "/cache/ls", 503, `{"error":"disk: off"}`+"\n")
	f("a check by GET", two, nil, "GET", "/cache/verify", 405, `{"error":"method not allowed; must be POST"}`+"\n")
	f("HEAD", two, nil, "HEAD", "/cache/ls", 200, "")
}

// An answer that looked whole would be taken for all there is.
func TestAListThatFailsIsCut(t *testing.T) {
	g := serve(t, mustNew(t, shelved([]any{"one", strings.Repeat("x", 1<<16)}, errors.New("disk: off"))))
	resp, err := g.client.Get("http://" + g.addr + "/cache/ls")
	if err == nil {
		defer resp.Body.Close()
		_, err = resp.Body.Read(make([]byte, 1<<10))
		for err == nil {
			_, err = resp.Body.Read(make([]byte, 1<<16))
		}
		if strings.Contains(err.Error(), "EOF") && !strings.Contains(err.Error(), "unexpected") {
			t.Errorf("got the end of the body, want an error")
		}
	}
}

func TestTheDiskNeedsTheToken(t *testing.T) {
	o := shelved([]any{1}, nil)
	o.Token = "a-token-of-many-signs"
	g := serve(t, mustNew(t, o))
	for path, method := range map[string]string{"/cache/stats": "GET", "/cache/ls": "GET", "/cache/verify": "POST"} {
		if a := g.do(method, path, ""); a.status != http.StatusUnauthorized {
			t.Errorf("%s: got %d, want 401", path, a.status)
		}
		if a := g.do(method, path, "", "Authorization", "Bearer "+o.Token); a.status != http.StatusOK {
			t.Errorf("%s with the token: got %d, want 200", path, a.status)
		}
	}
}

func TestWithoutADiskThereAreNoSuchPaths(t *testing.T) {
	g := serve(t, mustNew(t, options()))
	if a := g.do("GET", "/cache/ls", ""); a.status != http.StatusNotFound {
		t.Errorf("got %d, want 404", a.status)
	}
	if a := g.do("GET", "/paths", ""); strings.Contains(a.body, "/cache/") {
		t.Errorf("the list has it: %s", a.body)
	}
}

// slowShelf shows a line, and the next one after a while.
type slowShelf struct{ shelf }

func (s *slowShelf) List(show func(any) error) error {
	for _, l := range s.lines {
		if err := show(l); err != nil {
			return err
		}
		time.Sleep(time.Minute)
	}
	return nil
}

func (s *slowShelf) Verify(show func(any) error) error { return s.List(show) }

// A list takes longer than the server's limits of a read and of a whole answer.
func TestAListMayTakeLong(t *testing.T) {
	f := func(request string) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			o := options()
			o.Disk = &slowShelf{shelf{lines: []any{1, 2, 3}}}
			s := mustNew(t, o)
			client := servePipe(s)
			if _, err := io.WriteString(client, request+" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			resp, err := http.ReadResponse(bufio.NewReader(client), nil)
			if err != nil {
				t.Fatal(err)
			}
			if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "1\n2\n3\n" {
				t.Errorf("%s: got %q, %v, want all lines", request, body, err)
			}
			_ = client.Close()
			if err := s.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	f("GET /cache/ls")
	f("POST /cache/verify")
}
