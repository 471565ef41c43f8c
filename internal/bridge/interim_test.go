package bridge

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestAnInterimHeadIsWrittenWhileItsStreamIsReset: net/http still wrote the fields of an
// interim response when the handler, whose stream was reset, made those of the next in the
// same map. A runtime that notices ends the process. With -race this fails in most runs.
func TestAnInterimHeadIsWrittenWhileItsStreamIsReset(t *testing.T) {
	var head strings.Builder
	head.WriteString("HTTP/1.1 103 Early Hints\r\n")
	for i := range 100 {
		fmt.Fprintf(&head, "X-%d: a\r\n", i)
	}
	answer := strings.Repeat(head.String()+"\r\n", 16) + "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
	in := start(t, func(o *Options) { o.Streams = 100 })
	go func() {
		for c := range in.conns {
			go func() {
				_, _ = io.ReadFull(c, make([]byte, 1))
				_, _ = io.WriteString(c, answer)
			}()
		}
	}()
	var all sync.WaitGroup
	for n := range 50 {
		all.Go(func() {
			for i := range 20 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(n*i%37)*100*time.Microsecond)
				r, _ := http.NewRequestWithContext(ctx, http.MethodGet, in.url, http.NoBody)
				if res, err := in.Do(r); err == nil {
					_ = res.Body.Close()
				}
				cancel()
			}
		})
	}
	all.Wait()
}

// lateWriter is a http.ResponseWriter as net/http's of HTTP/2 is where a stream is reset:
// behind WriteHeader it still writes an interim response from the handler's map, or, with
// a Content-Length, from a copy.
type lateWriter struct {
	http.ResponseWriter // nil: nothing else is called
	fields              http.Header
	late                http.Header
}

func (w *lateWriter) Header() http.Header { return w.fields }

func (w *lateWriter) WriteHeader(int) {
	w.late = w.fields
	if _, ok := w.fields["Content-Length"]; ok {
		w.late = w.fields.Clone()
	}
}

// TestAnInterimHeadThatIsWrittenLateStaysAsItIs is the same without a race.
func TestAnInterimHeadThatIsWrittenLateStaysAsItIs(t *testing.T) {
	w := &lateWriter{fields: http.Header{}}
	writeInterim(w, &http.Response{StatusCode: http.StatusEarlyHints, Header: http.Header{"Link": {"</a>"}}})
	if w.late.Get("Link") != "</a>" || len(w.fields) > 0 {
		t.Errorf("is written as %v, and the next begins with %v", w.late, w.fields)
	}
}

// TestAnInterimHeadHasNoLength: the one that has net/http take a copy stays here.
func TestAnInterimHeadHasNoLength(t *testing.T) {
	in := start(t, nil)
	go func() {
		c := <-in.conns
		_, _ = io.ReadFull(c, make([]byte, 1))
		_, _ = io.WriteString(c, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	}()
	var got http.Header
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got1xxResponse: func(_ int, h textproto.MIMEHeader) error {
		got = http.Header(h)
		return nil
	}})
	r, _ := http.NewRequestWithContext(ctx, http.MethodGet, in.url, http.NoBody)
	res, err := in.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if got.Get("Link") != "</a>" || len(got) != 1 || res.Header.Get("Link") != "" {
		t.Errorf("got the hint %v, then %v", got, res.Header)
	}
}
