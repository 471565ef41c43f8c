package bridge

import (
	"bufio"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// refused is what a request is sent as that would not be one of HTTP/1.1: a head that no
// server takes. So it is answered, counted and logged like any other that cannot be read.
const refused = "REFUSED\r\n\r\n"

// headOf returns the head of r as HTTP/1.1, and refused if that would not be one request:
// RFC 9113 sections 8.2.1 and 8.3.1 leave it to a translating proxy to look for bytes that end
// a line or a part of it.
func headOf(r *http.Request) []byte {
	if !sound(r) || !agrees(r) || !soundFields(r.Trailer) {
		return []byte(refused)
	}
	b := join(nil, r.Method, " ", r.RequestURI, " HTTP/1.1\r\nHost: ", r.Host, "\r\nConnection: close\r\n")
	for name, values := range r.Header {
		if ours(name) {
			continue
		}
		for _, v := range values {
			if name == "Expect" && strings.EqualFold(v, "100-continue") {
				continue // it has been answered by the time a body is here
			}
			b = join(b, name, ": ", v, "\r\n")
		}
	}
	switch {
	case r.ContentLength > 0:
		b = join(b, "Content-Length: ", strconv.FormatInt(r.ContentLength, 10), "\r\n")
	case r.ContentLength < 0:
		b = join(b, "Transfer-Encoding: chunked\r\n")
	case r.Header.Get("Content-Length") != "":
		b = join(b, "Content-Length: 0\r\n")
	}
	b = appendTrailerFields(b, r)
	return join(b, "\r\n")
}

func join(b []byte, parts ...string) []byte {
	for _, s := range parts {
		b = append(b, s...)
	}
	return b
}

// sound reports whether nothing in r ends a line, or a part of one, of HTTP/1.1.
func sound(r *http.Request) bool {
	if !token(r.Method) || !visible(r.RequestURI) || !visible(r.Host) || !placed(r) {
		return false
	}
	return soundFields(r.Header)
}

func soundFields(fields http.Header) bool {
	for name, values := range fields {
		if !token(name) || slices.ContainsFunc(values, func(v string) bool { return strings.ContainsAny(v, "\r\n\x00") }) {
			return false
		}
	}
	return true
}

// placed reports whether the target leaves it to :authority where r goes: whole URLs would
// name another host in HTTP/1.1 (RFC 9113 section 8.3.1).
func placed(r *http.Request) bool {
	switch r.Method {
	case http.MethodConnect:
		return r.RequestURI == r.Host
	case http.MethodOptions:
		if r.RequestURI == "*" {
			return true
		}
	}
	return r.RequestURI[0] == '/'
}

// ours names the fields that are written by what they say, or not at all.
func ours(name string) bool {
	return connectionSpecific(name) || name == "Host" || name == "Content-Length"
}

// agrees reports whether the fields of r say the same as the stream: net/http takes
// :authority and the length of what came, and leaves a Host or Content-Length that
// differ (RFC 9113 sections 8.1.1 and 8.3.1).
func agrees(r *http.Request) bool {
	for _, host := range r.Header["Host"] {
		if host != r.Host {
			return false
		}
	}
	for _, length := range r.Header["Content-Length"] {
		if n, err := strconv.ParseInt(length, 10, 64); err != nil || n != r.ContentLength {
			return false
		}
	}
	return true
}

// send writes the head of r and its body behind it, each piece as it comes.
func send(w io.Writer, head []byte, r *http.Request) error {
	if _, err := w.Write(head); err != nil {
		return err
	}
	switch {
	case string(head) == refused:
		return nil
	case r.ContentLength < 0:
		return sendChunks(bufio.NewWriterSize(w, chunkBytes), r)
	case r.ContentLength > 0:
		_, err := io.CopyN(w, r.Body, r.ContentLength)
		return err
	}
	return nil
}

// sendChunks writes a body whose length is not known.
func sendChunks(w *bufio.Writer, r *http.Request) error {
	buf := make([]byte, chunkBytes)
	for {
		n, err := r.Body.Read(buf)
		if n > 0 {
			_, _ = w.WriteString(strconv.FormatInt(int64(n), 16))
			_, _ = w.WriteString("\r\n")
			_, _ = w.Write(buf[:n])
			_, _ = w.WriteString("\r\n")
			if err := w.Flush(); err != nil {
				return err
			}
		}
		switch {
		case err == io.EOF:
			return writeEnd(w, r)
		case err != nil:
			return err // without an end: the request is broken off
		}
	}
}

// chunkBytes is the largest chunk of a body whose length is not known.
const chunkBytes = 16 << 10

// connectionSpecific names fields that HTTP/2 does not have, or has by other means (RFC
// 9113 section 8.2.2).
func connectionSpecific(name string) bool {
	switch name {
	case "Connection", "Keep-Alive", "Proxy-Connection", "Transfer-Encoding", "Upgrade", "Te", "Http2-Settings":
		return true
	}
	return false
}

// token reports whether s is one (RFC 9110 section 5.6.2).
func token(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r)
	})
}

// visible reports whether s is there and has neither spaces nor control bytes.
func visible(s string) bool {
	if s == "" {
		return false
	}
	for i := range len(s) {
		if s[i] <= ' ' || s[i] == 0x7f {
			return false
		}
	}
	return true
}
