package listen

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"net/netip"
	"slices"

	"github.com/pires/go-proxyproto"
)

// This file reads headers of the PROXY protocol, versions 1 and 2
// (https://www.haproxy.org/download/3.4/doc/proxy-protocol.txt). A library parses them. This
// file determines their length, because the bytes after a header are the client's.

const (
	signature1 = "PROXY "
	signature2 = "\r\n\r\n\x00\r\nQUIT\n"

	shortestLine = len("PROXY UNKNOWN\r\n")
	longestLine  = 107 // section 2.1
	fixedBytes   = 16  // length of a header of version 2 without the rest, whose length is at its end
	// mostBytes bounds the rest of a header of version 2, as the parser does: an address
	// of each end, and room for a certificate of the client. The format allows 65535.
	mostBytes = 4096
)

var (
	errNoHeader      = errors.New("the connection does not begin with a PROXY protocol header")
	errLine          = errors.New("malformed PROXY protocol header: CR or LF before the end of the line")
	errHeaderTooLong = errors.New("the PROXY protocol header is too long")
	errElements      = errors.New("malformed PROXY protocol header: a TLV behind the addresses is incomplete")
	errChecksum      = errors.New("malformed PROXY protocol header: wrong checksum")
)

// receive reads the header at the beginning of r, and not a byte after it.
func receive(r io.Reader) ([]byte, error) {
	have := make([]byte, 0, longestLine)
	for {
		n, err := missing(have)
		if n == 0 || err != nil {
			return have, err
		}
		have = slices.Grow(have, n)
		got, err := r.Read(have[len(have) : len(have)+n])
		have = have[:len(have)+got]
		if got == 0 && err != nil {
			return have, fmt.Errorf("%w: %w", errNoHeader, err)
		}
	}
}

// missing returns how many more bytes belong to a header that begins with have, as far
// as is certain: 0 once it is whole.
func missing(have []byte) (int, error) {
	switch {
	case begins(have, signature1):
		return missingOfLine(have)
	case begins(have, signature2):
		return missingOfBlock(have)
	}
	return 0, errNoHeader
}

// begins reports whether have begins with the signature, or with a part of it if have is shorter.
func begins(have []byte, signature string) bool {
	n := min(len(have), len(signature))
	return string(have[:n]) == signature[:n]
}

// missingOfLine is missing for version 1. A line whose end has not come has at least two more
// bytes.
func missingOfLine(have []byte) (int, error) {
	var n int
	end := bytes.IndexAny(have, "\r\n")
	switch {
	case end < 0:
		n = max(len("\r\n"), shortestLine-len(have))
	case string(have[end:]) == "\r":
		n = len("\n")
	case string(have[end:]) != "\r\n":
		return 0, errLine
	}
	if len(have)+n > longestLine {
		return 0, errHeaderTooLong
	}
	return n, nil
}

// missingOfBlock is missing for version 2.
func missingOfBlock(have []byte) (int, error) {
	if len(have) < fixedBytes {
		return fixedBytes - len(have), nil
	}
	rest := int(binary.BigEndian.Uint16(have[fixedBytes-2:]))
	if rest > mostBytes {
		return 0, errHeaderTooLong
	}
	return fixedBytes + rest - len(have), nil
}

// source returns the client's address that a whole header tells. It is the zero Addr for
// a client behind a socket in the file system. With told false the header leaves it to
// the connection: UNKNOWN, LOCAL, and families that are not specified.
func source(header []byte) (addr netip.Addr, told bool, err error) {
	h, err := proxyproto.Read(bufio.NewReaderSize(bytes.NewReader(header), len(header)))
	switch {
	case unspecified(header):
		return netip.Addr{}, false, nil // section 2.2 lets the receiver choose; the parser refuses it
	case err != nil:
		return netip.Addr{}, false, err
	case h.Command.IsLocal():
		return netip.Addr{}, false, nil
	case h.Version == 2:
		if err := verify(header); err != nil {
			return netip.Addr{}, false, err
		}
	}
	switch a := h.SourceAddr.(type) {
	case *net.TCPAddr:
		addr, told = netip.AddrFromSlice(a.IP)
	case *net.UDPAddr: // the address of a client of HTTP/3
		addr, told = netip.AddrFromSlice(a.IP)
	case *net.UnixAddr:
		told = true
	}
	if !told {
		return netip.Addr{}, false, proxyproto.ErrInvalidAddress
	}
	return addr.Unmap(), true, nil
}

// unspecified reports whether a header of version 2 has the command PROXY and no family.
func unspecified(header []byte) bool {
	const command = len(signature2)
	return begins(header, signature2) && header[command] == byte(proxyproto.PROXY) && header[command+1] == byte(proxyproto.UNSPEC)
}

// verify checks the elements behind the addresses of a header of version 2 that the
// parser has taken, and the header by each checksum in them (section 2.2.3), which counts
// its own bytes as zero.
func verify(header []byte) error {
	const family = len(signature2) + 1
	at := fixedBytes + addressBytes(proxyproto.AddressFamilyAndProtocol(header[family]))
	for at < len(header) {
		if len(header)-at < 3 {
			return errElements
		}
		kind, value := proxyproto.PP2Type(header[at]), at+3
		at = value + int(binary.BigEndian.Uint16(header[value-2:]))
		switch {
		case at > len(header):
			return errElements
		case kind != proxyproto.PP2_TYPE_CRC32C:
		case at-value != crc32.Size || binary.BigEndian.Uint32(header[value:]) != checksum(header, value):
			return errChecksum
		}
	}
	return nil
}

// addressBytes is how many bytes the addresses and ports of a family take.
func addressBytes(family proxyproto.AddressFamilyAndProtocol) int {
	switch {
	case family.IsIPv4():
		return 2*4 + 2*2
	case family.IsIPv6():
		return 2*16 + 2*2
	default:
		return 2 * 108
	}
}

// checksum is the CRC-32C of header with four bytes of zero at value.
func checksum(header []byte, value int) uint32 {
	var zero [crc32.Size]byte
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	sum := crc32.Update(0, castagnoli, header[:value])
	sum = crc32.Update(sum, castagnoli, zero[:])
	return crc32.Update(sum, castagnoli, header[value+crc32.Size:])
}
