//go:build linux

package fair

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// keyAttacks push what others use out of the cache.
func keyAttacks() []attack {
	page := thing{path: "/page", cc: "max-age=3600", size: small, more: "&vary=Accept-Encoding"}
	home := thing{path: "/home", cc: "max-age=3600", size: small}
	return []attack{
		{
			name: "33 spellings of Accept-Encoding", long: times(2*time.Second, 4*time.Second),
			edge:    settings{sections: "admission: {policy: always}\n"},
			prepare: func(s *scene) { wantHit(s, page, "Accept-Encoding: gzip") },
			play: func(w *wave) {
				w.rate(200, func(n int) {
					w.all.Go(func() {
						w.send(n%8, w.head("GET", page.target(), fmt.Sprintf("Accept-Encoding: gzip;q=0.%03d, x-%d\r\n", 1+n%33, n%33)))
					})
				})
			},
			meanwhile: staysStored(page, "Accept-Encoding: gzip", 20*time.Millisecond),
		},
		{
			name: "POST whose answer says Location: /home, same_url", long: times(2*time.Second, 4*time.Second),
			edge:    settings{sections: "admission: {policy: always}\n" + "cache: {invalidate: same_url} # new\n"},
			prepare: func(s *scene) { wantHit(s, home, "") },
			play: func(w *wave) {
				w.rate(50, func(n int) {
					form := "/form?size=10&location=" + url.QueryEscape(home.target())
					w.all.Go(func() { w.send(n%8, w.head("POST", form, "Content-Length: 1\r\n")+"a") })
				})
			},
			meanwhile: staysStored(home, "", 20*time.Millisecond),
		},
	}
}

// send writes a request on a connection of its own and waits for the beginning of an answer.
func (w *wave) send(n int, request string) {
	c, err := w.connect(n, false)
	if err != nil {
		return
	}
	defer c.Close()
	_, _ = io.WriteString(c, request)
	_ = c.SetReadDeadline(time.Now().Add(time.Second))
	_, _ = c.Read(make([]byte, 1))
}

// wantHit asks for a thing until it is stored.
func wantHit(s *scene, o thing, field string) {
	for range 5 {
		if s.honest.get(s.honest.keeps, o, field).hit {
			return
		}
	}
	s.t.Fatalf("%s is not stored", o.path)
}

// staysStored has the honest client ask for what is stored, and wants hits alone.
func staysStored(o thing, field string, every time.Duration) func(*wave) {
	return func(w *wave) {
		hits, all := 0, 0
		for ; w.ctx.Err() == nil; w.wait(every) {
			if all++; w.s.honest.get(w.s.honest.keeps, o, field).hit {
				hits++
			}
		}
		if !w.real {
			return
		}
		if w.s.note("%d of %d are hits", hits, all); hits != all {
			w.s.fail("%d of %d requests for what was stored are hits, want all", hits, all)
		}
	}
}

// purged purges by the admin listener, and returns what it says.
func (e *edge) purged(ctx context.Context, body string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.at+"/purge", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := e.admin.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %s", res.StatusCode, text)
	}
	return string(text), err
}
