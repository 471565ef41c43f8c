package origin

import (
	"errors"
	"io"
	"slices"
	"testing"

	"edgeproxy/internal/http/field"
)

func TestTrailersOfAChunkedBody(t *testing.T) {
	f := func(section string, want ...field.Field) {
		t.Helper()
		o := start(t, Options{}, each("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n"+section+"\r\n"))
		res, err := o.RoundTrip(t.Context(), get("/"))
		if err != nil {
			t.Fatal(err)
		}
		if got := res.Body.Trailers(); got != nil {
			t.Errorf("%q: got %q before the end of the body, want none", section, got)
		}
		if body, err := io.ReadAll(res.Body); string(body) != "hello" || err != nil {
			t.Errorf("%q: got %q, %v", section, body, err)
		}
		if got := res.Body.Trailers(); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", section, got, want)
		}
		if res.Header.Has("X-Sum") {
			t.Errorf("%q: a trailer has become a field of the header", section)
		}
		_ = res.Body.Close()
	}
	f("")
	f("x-sum: 1\r\n", field.Field{Name: "X-Sum", Value: "1"})
	f("X-Sum:1 \r\nY:\r\nX-Sum :\t2\r\n", field.Field{Name: "X-Sum", Value: "1"}, field.Field{Name: "Y"}, field.Field{Name: "X-Sum", Value: "2"})
	f("Content-Length: 7\r\n", field.Field{Name: "Content-Length", Value: "7"}) // the caller's to look at
}

func TestNoTrailersOfABodyThatBrokeOff(t *testing.T) {
	const chunks = "5\r\nhello\r\n0\r\nX-Sum: 1\r\nY: 2\r\n\r\n"
	for cut := range len(chunks) {
		o := start(t, Options{}, func(_ int, p *peer) {
			p.request()
			p.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks[:cut])
		})
		res, err := o.RoundTrip(t.Context(), get("/"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.ReadAll(res.Body)
		if got := res.Body.Trailers(); got != nil || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut at %d: got %q, %v; want no trailers and %v", cut, got, err, io.ErrUnexpectedEOF)
		}
	}
}
