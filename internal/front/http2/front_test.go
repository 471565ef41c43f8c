package http2

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"edgeproxy/internal/http/message"
	"edgeproxy/internal/test/testkit"
)

// speaks returns net/http's client of HTTP/2.
func speaks(t testing.TB) *http.Client {
	t.Helper()
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	tr := &http.Transport{Protocols: protocols}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: testkit.Patience}
}

// TestAnotherImplementationIsAnswered: contents of all sizes, from memory and piece by piece,
// with and without a request's content.
func TestAnotherImplementationIsAnswered(t *testing.T) {
	text := func(r *message.Request) string {
		var n int
		_, _ = fmt.Sscanf(string(r.Target), "/%d", &n)
		return strings.Repeat("0123456789abcdef", n/16+1)[:n]
	}
	e := &engine{begin: func(r *message.Request, a *message.Answer) message.Pending {
		if strings.HasSuffix(string(r.Target), "memory") {
			say(a, text(r))
			return nil
		}
		return later(func() {
			all := text(r)
			if r.Body != nil {
				b, err := io.ReadAll(asReader{r.Body})
				if err != nil {
					t.Error(err)
				}
				all += string(b)
			}
			a.Status, a.Length = 200, -1
			a.Content = &pieces{next: func() (p []byte, err error) {
				n := min(len(all), 10_000)
				if n == 0 {
					return nil, io.EOF
				}
				p, all = []byte(all[:n]), all[n:]
				return p, nil
			}}
		})
	}}
	_, address := serve(t, e, func(o *Options) { o.Streams = 100 })
	c := speaks(t)
	var all sync.WaitGroup
	for _, n := range []int{0, 1, 1000, 16384, 16385, 70_000, 1 << 20} {
		for _, how := range []string{"memory", "pieces"} {
			for _, up := range []int{0, 5, 300_000} {
				if up > 0 && how == "memory" {
					continue
				}
				all.Go(func() {
					body := strings.Repeat("u", up)
					res, err := c.Post(fmt.Sprintf("http://%s/%d/%s", address, n, how), "text/plain", strings.NewReader(body))
					if err != nil {
						t.Errorf("%d %s: %v", n, how, err)
						return
					}
					defer res.Body.Close()
					b, err := io.ReadAll(res.Body)
					if err != nil || len(b) != n+up {
						t.Errorf("%d %s with %d: got %d bytes, %v", n, how, up, len(b), err)
					}
				})
			}
		}
	}
	all.Wait()
}

type asReader struct{ message.Body }
