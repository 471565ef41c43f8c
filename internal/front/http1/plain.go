package http1

import (
	"bytes"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/message"
	"edgeproxy/internal/http/wire"
)

// A plain request is one whose head cannot mean anything but what it says at the first look: a
// request of a path by HTTP/1.1 of one host, whose content, if it has any, ends where a length or its
// chunks say, and without a wish about the connection or the protocol. This package reads and answers it
// itself. fasthttp reads any other request, and all that follow it on the connection.

// look says what the first bytes of a request are.
type look uint8

const (
	isPlain look = iota // the head of a plain request
	isShort             // what may become one: more has to come
	isOther             // something else
)

// readPlain reads the head of a plain request from the beginning of b, and returns its length.
// The request shares b. It allocates nothing once there is room.
func (t *turn) readPlain(b []byte) (n int, found look) {
	line, block, ended := bytes.Cut(b, []byte{'\n'})
	if !ended {
		return 0, isShort
	}
	r := &t.request
	var ok bool
	if r.Method, r.Target, ok = requestLine(line); !ok {
		return 0, isOther
	}
	r.Version, r.Interim = message.HTTP11, t.tell
	w := wire.Walk(block)
	for {
		name, value := w.Next()
		if name == nil {
			break
		}
		if !t.plainField(name, value) {
			return 0, isOther
		}
		r.Lines = append(r.Lines, message.Line{Name: name, Value: value})
	}
	behind, ended := w.Behind()
	switch {
	case w.Short():
		return 0, isShort
	case !ended || w.Err() != nil || len(r.Host) == 0 || t.upload.named && !t.upload.plain():
		return 0, isOther
	}
	return len(b) - len(behind), isPlain
}

// forget drops what readPlain has read.
func (t *turn) forget() {
	t.request = message.Request{Lines: t.request.Lines[:0]}
	t.upload = upload{}
}

const version11 = " HTTP/1.1\r"

// requestLine returns the method and the target of the line of a plain request, which comes
// without the LF at its end.
func requestLine(line []byte) (method, target []byte, ok bool) {
	n := len("GET")
	if !bytes.HasPrefix(line, []byte("GET /")) {
		if n++; !bytes.HasPrefix(line, []byte("HEAD /")) {
			if n = otherMethod(line); n == 0 {
				return nil, nil, false
			}
		}
	}
	end := len(line) - len(version11)
	if end <= n+1 || string(line[end:]) != version11 {
		return nil, nil, false
	}
	method, target = line[:n], line[n+1:end]
	if len(target) > 1 && target[1] == '/' { // two parsers may take that for an authority
		return nil, nil, false
	}
	for _, c := range target {
		if c <= ' ' || c == 0x7f {
			return nil, nil, false
		}
	}
	return method, target, true
}

// otherMethod returns the length of the method, other than GET and HEAD, at the beginning of the line of a plain request; 0:
// it is the line of no plain request.
func otherMethod(line []byte) int {
	n := bytes.IndexByte(line, ' ')
	if n < 1 || !bytes.HasPrefix(line[n:], []byte(" /")) || !wire.ValidMethod(line[:n]) {
		return 0
	}
	return n
}

var (
	nameHost       = []byte("Host")
	nameConnection = []byte("Connection")
	keepAlive      = []byte("keep-alive")
)

// aboutContent are the names of fields that frame content, or are about the way it is sent, and Upgrade. Few plain requests have one.
var aboutContent = [][]byte{
	[]byte("Expect"), []byte("Upgrade"), []byte("Trailer"), []byte("Content-Length"), []byte("Transfer-Encoding"),
}

// plainField reports whether a plain request may have this field line.
func (t *turn) plainField(name, value []byte) bool {
	for _, about := range aboutContent {
		if sameName(name, about) {
			return t.upload.note(name, value)
		}
	}
	switch {
	case sameName(name, nameHost):
		t.request.Host = value
		return plainHost(value)
	case sameName(name, nameConnection):
		return bytes.EqualFold(value, keepAlive)
	}
	return field.ValidValue(value)
}

// sameName reports whether two field names are equal. Nearly all differ in length.
func sameName(a, b []byte) bool { return len(a) == len(b) && bytes.EqualFold(a, b) }

// plainHost reports whether host is a name or an IPv4 address, and perhaps a port.
func plainHost(host []byte) bool {
	for i, c := range host {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '-', c == '_':
		case c == ':' && i > 0:
			return digits(host[i+1:])
		default:
			return false
		}
	}
	return len(host) > 0
}

// digits reports whether b is digits and nothing else.
func digits(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}
