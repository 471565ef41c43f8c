package http2

import (
	"bytes"
	"strconv"
	"strings"

	"golang.org/x/net/http2/hpack"

	"edgeproxy/internal/http/field"
)

// encoder writes header blocks (RFC 7541). Its dynamic table is that of the connection, so blocks must be
// sent in the order in which they were made. It keeps no bytes of what it is given.
type encoder struct {
	block writing
	hpack *hpack.Encoder
	names map[string]*name // names that are not in known; bounded
	// The name that was last at each place: responses of an origin often have the same names at the
	// same places.
	fieldAt, lineAt [places]*name
}

// writing is a header block that is being made.
type writing []byte

// Write implements io.Writer.
func (w *writing) Write(p []byte) (int, error) {
	*w = append(*w, p...)
	return len(p), nil
}

func (e *encoder) init() {
	e.hpack = hpack.NewEncoder(&e.block)
	e.hpack.SetMaxDynamicTableSizeLimit(tableBytes)
}

const (
	mostNames   = 128 // most names that an encoder keeps
	places      = 16
	mostIndexed = 256 // bytes of a field that the table is to hold
)

// head begins a block with a status.
func (e *encoder) head(status int) {
	e.block = e.block[:0]
	_ = e.hpack.WriteField(hpack.HeaderField{Name: ":status", Value: statusText(status)})
}

// trailers makes a block without a status. None of its fields goes into the table: they belong to one content.
func (e *encoder) trailers(list field.List) {
	e.block = e.block[:0]
	for i := range list {
		if n := e.name(list[i].Name); !n.forbidden {
			_ = e.hpack.WriteField(hpack.HeaderField{Name: n.lower, Value: list[i].Value, Sensitive: true})
		}
	}
}

// length adds the length of the content.
func (e *encoder) length(n int64) {
	var digits [20]byte
	e.literal(contentLength, strconv.AppendInt(digits[:0], n, 10))
}

// stored adds the fields of a stored response.
func (e *encoder) stored(l field.Lines) {
	f, rest, ok := l.Next()
	for i := 0; ok; i++ {
		e.field(i, f)
		f, rest, ok = rest.Next()
	}
}

// fields adds the fields of a response.
func (e *encoder) fields(list field.List) {
	for i, f := range list {
		e.field(i, f)
	}
}

// field adds the field of a response at this place.
func (e *encoder) field(place int, f field.Field) {
	n := e.fieldAt[place%places]
	if n == nil || n.canonical != f.Name {
		n = e.name(f.Name)
		e.fieldAt[place%places] = n
	}
	switch {
	case n.forbidden:
	case n.varying || len(n.lower)+len(f.Value) > mostIndexed:
		e.huffman(n, f.Value)
	default:
		_ = e.hpack.WriteField(hpack.HeaderField{Name: n.lower, Value: f.Value, Sensitive: n.secret})
	}
}

// lines adds lines of HTTP/1.1, each with its end. They are of this answer alone, so the table
// holds none of them.
func (e *encoder) lines(all []byte) {
	for i := 0; len(all) > 0; i++ {
		line, rest, _ := bytes.Cut(all, crlf)
		all = rest
		at := bytes.IndexByte(line, ':')
		if at <= 0 {
			continue
		}
		n := e.lineAt[i%places]
		if n == nil || n.canonical != string(line[:at]) {
			n = e.name(string(line[:at]))
			e.lineAt[i%places] = n
		}
		if !n.forbidden {
			e.literal(n, bytes.TrimLeft(line[at+1:], " "))
		}
	}
}

var crlf = []byte("\r\n")

// name returns the properties of a name in canonical form. It keeps no bytes of its argument.
func (e *encoder) name(canonical string) *name {
	if n, ok := known[canonical]; ok {
		return n
	}
	if n, ok := e.names[canonical]; ok {
		return n
	}
	n := &name{canonical: strings.Clone(canonical), lower: strings.ToLower(canonical)}
	if e.names == nil {
		e.names = map[string]*name{}
	}
	if len(e.names) < mostNames {
		e.names[n.canonical] = n
	}
	return n
}

// literal adds a field that is in no table (RFC 7541 section 6.2.2).
func (e *encoder) literal(n *name, value []byte) {
	e.literalName(n)
	e.block = append(appendInt(e.block, 0, 7, len(value)), value...)
}

// huffman is literal, with a value that is packed where that makes it shorter.
func (e *encoder) huffman(n *name, value string) {
	e.literalName(n)
	if packed := hpack.HuffmanEncodeLength(value); packed < uint64(len(value)) {
		e.block = appendInt(e.block, 0x80, 7, int(packed)) //nolint:gosec // less than len(value)
		e.block = hpack.AppendHuffmanString(e.block, value)
		return
	}
	e.block = append(appendInt(e.block, 0, 7, len(value)), value...)
}

func (e *encoder) literalName(n *name) {
	if n.index > 0 {
		e.block = appendInt(e.block, 0, 4, int(n.index))
		return
	}
	e.block = append(e.block, 0)
	e.block = append(appendInt(e.block, 0, 7, len(n.lower)), n.lower...)
}

// appendInt appends n behind the flags of its first byte (RFC 7541 section 5.1).
func appendInt(b []byte, flags byte, bits uint, n int) []byte {
	most := 1<<bits - 1
	if n < most {
		return append(b, flags|byte(n))
	}
	b = append(b, flags|byte(most))
	for n -= most; n >= 128; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}

// statusText returns a status in digits.
func statusText(status int) string {
	if status >= 100 && status < 600 {
		return statuses[status-100]
	}
	return strconv.Itoa(status)
}

var statuses = func() (t [500]string) {
	for i := range t {
		t[i] = strconv.Itoa(i + 100)
	}
	return t
}()
