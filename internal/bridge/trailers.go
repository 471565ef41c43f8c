package bridge

import (
	"bufio"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Trailers (RFC 9113 section 8.1) pass in both directions, as the server behind passes
// them. Of a request, net/http tells only those that its Trailer announces, and HTTP/1.1
// has room for them only where the length is not known. What may be one is the server's
// to say.

// errTrailers ends a request whose trailers would be more than fields on the wire.
var errTrailers = errors.New("bridge: malformed trailers")

// appendTrailerFields says in the head of r that trailers are welcome, if the client does,
// and announces those of the request. Connection need not name TE here, where the next
// hop is the last one within the process.
func appendTrailerFields(b []byte, r *http.Request) []byte {
	if r.Header.Get("Te") == "trailers" { // no other value is left by net/http
		b = join(b, "TE: trailers\r\n")
	}
	if r.ContentLength < 0 && len(r.Trailer) > 0 {
		b = join(b, "Trailer: ", strings.Join(slices.Sorted(maps.Keys(r.Trailer)), ", "), "\r\n")
	}
	return b
}

// writeEnd writes the last chunk and what r, whose body has ended, has of trailers.
func writeEnd(w *bufio.Writer, r *http.Request) error {
	if !soundFields(r.Trailer) {
		return errTrailers // without an end: the request is broken off
	}
	end := []byte("0\r\n")
	for _, name := range slices.Sorted(maps.Keys(r.Trailer)) {
		for _, v := range r.Trailer[name] {
			end = join(end, name, ": ", v, "\r\n")
		}
	}
	if _, err := w.Write(join(end, "\r\n")); err != nil {
		return err
	}
	return w.Flush()
}

// announce has header say which trailers may come.
func announce(header, trailers http.Header) {
	if len(trailers) > 0 {
		header["Trailer"] = slices.Sorted(maps.Keys(trailers))
	}
}

// addTrailers gives the trailers of an answer whose head is sent to net/http, which takes
// what it was told of as announced from among the fields of the head.
func addTrailers(header, trailers http.Header) {
	clear(header)
	for name, values := range trailers {
		if len(values) > 0 { // not one that was announced and did not come
			header[http.TrailerPrefix+name] = values
		}
	}
}
