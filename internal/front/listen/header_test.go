package listen

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/pires/go-proxyproto"
)

// block is a header of version 2.
func block(command, family byte, rest ...[]byte) string {
	all := bytes.Join(rest, nil)
	return signature2 + string([]byte{command, family, byte(len(all) >> 8), byte(len(all))}) + string(all)
}

// element is one that stands behind the addresses.
func element(kind byte, value string) []byte {
	return append([]byte{kind, byte(len(value) >> 8), byte(len(value))}, value...)
}

// summed puts the right checksum into a header that has "sum?" in its place.
func summed(header string) string {
	zeroed := strings.Replace(header, "sum?", "\x00\x00\x00\x00", 1)
	sum := binary.BigEndian.AppendUint32(nil, crc32.Checksum([]byte(zeroed), crc32.MakeTable(crc32.Castagnoli)))
	return strings.Replace(header, "sum?", string(sum), 1)
}

const (
	local, proxied                        = 0x20, 0x21
	none, tcp4, udp4, tcp6, unix, unixgra = 0x00, 0x11, 0x12, 0x21, 0x31, 0x32
)

var (
	ends4 = []byte("\xc0\x00\x02\x01\x0a\x00\x00\x01\xdd\xd5\x00\x50") // 192.0.2.1:56789 to 10.0.0.1:80
	ends6 = []byte("\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01" + strings.Repeat("\x00", 15) + "\x01\xdd\xd5\x00\x50")
	// In IPv6's form, 192.0.2.1.
	mapped = []byte(strings.Repeat("\x00", 10) + "\xff\xff\xc0\x00\x02\x01" + strings.Repeat("\x00", 15) + "\x01\xdd\xd5\x00\x50")
	ends1  = []byte("/run/lb.sock" + strings.Repeat("\x00", 216-len("/run/lb.sock")))
)

type headerCase struct {
	name, header string
	client       string // "" is not told, "unix" nobody
	err          error  // nil: taken
}

func headerCases() []headerCase {
	invalid := func(name, header string, err error) headerCase { return headerCase{name, header, "", err} }
	return []headerCase{
		{"v1 TCP4", "PROXY TCP4 192.0.2.1 10.0.0.1 56789 80\r\n", "192.0.2.1", nil},
		{"v1 TCP6", "PROXY TCP6 2001:db8::1 ::1 56789 80\r\n", "2001:db8::1", nil},
		{"v1 TCP6 of an IPv4 client", "PROXY TCP6 ::ffff:192.0.2.1 ::1 56789 80\r\n", "192.0.2.1", nil},
		{"v1 UNKNOWN", "PROXY UNKNOWN\r\n", "", nil},
		{"v1 UNKNOWN with more", "PROXY UNKNOWN 1.1.1.1 2.2.2.2 1 2\r\n", "", nil},
		{"v1 shortest", "PROXY TCP6 :: :: 0 0\r\n", "::", nil},
		{"v1 longest", "PROXY UNKNOWN " + strings.Repeat("f", longestLine-16) + "\r\n", "", nil},
		{"v2 TCP4", block(proxied, tcp4, ends4), "192.0.2.1", nil},
		{"v2 TCP6", block(proxied, tcp6, ends6), "2001:db8::1", nil},
		{"v2 TCP6 of an IPv4 client", block(proxied, tcp6, mapped), "192.0.2.1", nil},
		{"v2 UDP4", block(proxied, udp4, ends4), "192.0.2.1", nil},
		{"v2 UNIX", block(proxied, unix, ends1), "unix", nil},
		{"v2 UNIX datagrams", block(proxied, unixgra, ends1), "unix", nil},
		{"v2 LOCAL", block(local, none), "", nil},
		{"v2 LOCAL with an address", block(local, tcp4, ends4), "", nil},
		{"v2 LOCAL with half an address", block(local, tcp6, ends4), "", nil},
		{"v2 unspecified", block(proxied, none), "", nil},
		{"v2 unspecified with more", block(proxied, none, []byte("more")), "", nil},
		{"v2 with elements", block(proxied, tcp4, ends4, element(4, ""), element(1, "h2"), element(0xea, strings.Repeat("x", 300))), "192.0.2.1", nil},
		{"v2 with a checksum", summed(block(proxied, tcp4, ends4, element(2, "example.com"), element(3, "sum?"), element(4, "pad"))), "192.0.2.1", nil},
		{"v2 TCP6 with a checksum", summed(block(proxied, tcp6, ends6, element(3, "sum?"))), "2001:db8::1", nil},
		{"v2 UNIX with a checksum", summed(block(proxied, unix, ends1, element(3, "sum?"))), "unix", nil},
		{"v2 longest", block(proxied, tcp4, ends4, element(4, strings.Repeat("x", mostBytes-15))), "192.0.2.1", nil},

		invalid("nothing", "", errNoHeader),
		invalid("a request", "GET / HTTP/1.1\r\n", errNoHeader),
		invalid("TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", errNoHeader),
		invalid("half a signature", "PRO", errNoHeader),
		invalid("v1 in lower case", "proxy TCP4 1.1.1.1 2.2.2.2 1 2\r\n", errNoHeader),
		invalid("v1 cut off", "PROXY TCP4 192.0.2.1 10.0.0.1 56789 80\r", errNoHeader),
		invalid("v1 LF alone", "PROXY TCP4 192.0.2.1 10.0.0.1 56789 80\n", errLine),
		invalid("v1 CR within", "PROXY UNKNOWN a\rb\r\n", errLine),
		invalid("v1 ends too early", "PROXY TCP4\r\nGET / HTTP/1.1\r\n", errLine),
		invalid("v1 too long", "PROXY UNKNOWN "+strings.Repeat("f", longestLine-15)+"\r\n", errHeaderTooLong),
		invalid("v1 without an end", "PROXY UNKNOWN "+strings.Repeat("f", 1000), errHeaderTooLong),
		invalid("v1 of another family", "PROXY TCP4 ::1 ::1 1 2\r\n", proxyproto.ErrInvalidAddress),
		invalid("v1 no address", "PROXY TCP4 example.com 10.0.0.1 1 2\r\n", proxyproto.ErrInvalidAddress),
		invalid("v1 port too large", "PROXY TCP4 192.0.2.1 10.0.0.1 65536 80\r\n", proxyproto.ErrInvalidPortNumber),
		invalid("v1 another protocol", "PROXY UDP4 192.0.2.1 10.0.0.1 1 2\r\n", proxyproto.ErrCantReadAddressFamilyAndProtocol),
		invalid("v1 one word more", "PROXY TCP4 192.0.2.1 10.0.0.1 1 2 3\r\n", proxyproto.ErrCantReadAddressFamilyAndProtocol),
		invalid("v2 cut off", block(proxied, tcp4, ends4)[:27], errNoHeader),
		invalid("v2 version 3", block(0x31, tcp4, ends4), proxyproto.ErrUnsupportedProtocolVersionAndCommand),
		invalid("v2 another command", block(0x22, tcp4, ends4), proxyproto.ErrUnsupportedProtocolVersionAndCommand),
		invalid("v2 another family", block(proxied, 0x41, ends4), proxyproto.ErrUnsupportedAddressFamilyAndProtocol),
		invalid("v2 another transport", block(proxied, 0x13, ends4), proxyproto.ErrUnsupportedAddressFamilyAndProtocol),
		invalid("v2 half an address", block(proxied, tcp6, ends4), proxyproto.ErrInvalidLength),
		invalid("v2 too long", block(proxied, tcp4, ends4, element(4, strings.Repeat("x", mostBytes-14))), errHeaderTooLong),
		invalid("v2 half an element", block(proxied, tcp4, ends4, element(4, "pad")[:5]), errElements),
		invalid("v2 an element without a length", block(proxied, tcp4, ends4, []byte{4, 0}), errElements),
		invalid("v2 a checksum that does not fit", block(proxied, tcp4, ends4, element(3, "sum?")), errChecksum),
		invalid("v2 a checksum of three bytes", block(proxied, tcp4, ends4, element(3, "sum")), errChecksum),
		invalid("v2 a second checksum", summed(block(proxied, tcp4, ends4, element(3, "sum?"), element(3, "null"))), errChecksum),
	}
}

// read reads the header at the beginning of r.
func read(r io.Reader) (client netip.Addr, told bool, err error) {
	header, err := receive(r)
	if err != nil {
		return client, false, err
	}
	return source(header)
}

func (c *headerCase) check(t *testing.T, how string, client netip.Addr, told bool, err error) {
	t.Helper()
	want := netip.Addr{}
	if c.client != "" && c.client != "unix" {
		want = netip.MustParseAddr(c.client)
	}
	if !errors.Is(err, c.err) || client != want || told != (c.client != "") {
		t.Errorf("%s, %s: got %v, %v, %v; want %q, %v", c.name, how, client, told, err, c.client, c.err)
	}
}

func TestHeadersTellTheClient(t *testing.T) {
	const request = "GET / HTTP/1.1\r\n\r\n"
	for _, c := range headerCases() {
		whole := strings.NewReader(c.header)
		client, told, err := read(whole)
		c.check(t, "alone", client, told, err)

		bytewise := strings.NewReader(c.header)
		client, told, err = read(iotest.OneByteReader(bytewise))
		if !errors.Is(c.err, errLine) { // "PROXY TCP4\r\n" is a line of its own then
			c.check(t, "byte by byte", client, told, err)
		}
		if c.err != nil {
			if err == nil {
				t.Errorf("%s, byte by byte: taken", c.name)
			}
			continue
		}
		both := strings.NewReader(c.header + request)
		client, told, err = read(both)
		c.check(t, "with a request", client, told, err)
		if left, _ := io.ReadAll(both); string(left) != request {
			t.Errorf("%s: left %q, want the request", c.name, left)
		}
	}
}

// TestAHeaderSplitAnywhere cuts each header in two at every byte.
func TestAHeaderSplitAnywhere(t *testing.T) {
	for _, c := range headerCases() {
		if c.err != nil || len(c.header) > 1000 {
			continue
		}
		for at := range len(c.header) {
			rest := strings.NewReader(c.header[at:] + "next")
			client, told, err := read(io.MultiReader(strings.NewReader(c.header[:at]), rest))
			c.check(t, "split", client, told, err)
			if left, _ := io.ReadAll(rest); string(left) != "next" {
				t.Errorf("%s split at %d: left %q, want what follows", c.name, at, left)
			}
		}
	}
}

// FuzzHeader holds what is taken to the parser, reading ahead as it likes, and to itself
// with the bytes coming one at a time.
func FuzzHeader(f *testing.F) {
	for _, c := range headerCases() {
		f.Add([]byte(c.header + "GET /"))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		in := bytes.NewReader(data)
		client, told, err := read(in)
		one := bytes.NewReader(data)
		client1, told1, err1 := read(iotest.OneByteReader(one))
		if (err == nil) != (err1 == nil) || client != client1 || told != told1 {
			t.Fatalf("got %v, %v, %v; byte by byte %v, %v, %v", client, told, err, client1, told1, err1)
		}
		if err != nil {
			return
		}
		if in.Len() != one.Len() {
			t.Fatalf("left %d bytes, byte by byte %d", in.Len(), one.Len())
		}
		header := data[:len(data)-in.Len()]
		if unspecified(header) {
			return // which the parser refuses
		}
		ahead := bufio.NewReaderSize(bytes.NewReader(data), len(data)+1)
		h, err := proxyproto.Read(ahead)
		if err != nil {
			t.Fatalf("took %q, which the parser refuses: %v", header, err)
		}
		if ahead.Buffered() != in.Len() {
			t.Fatalf("left %d bytes, the parser %d", in.Len(), ahead.Buffered())
		}
		if want := parsed(h); told != (want != "") || told && client.String() != want {
			t.Fatalf("got %v, %v; the parser says %q", client, told, want)
		}
	})
}

// parsed is the parser's word for who the client is, "" for no word.
func parsed(h *proxyproto.Header) string {
	if h.Command.IsLocal() {
		return ""
	}
	if source, _, ok := h.IPs(); ok {
		return netip.MustParseAddr(source.String()).Unmap().String()
	}
	if _, ok := h.SourceAddr.(*net.UnixAddr); ok {
		return netip.Addr{}.String()
	}
	return "neither"
}
