package syslog

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"time"
)

// format makes messages of lines: <PRI>1 TIMESTAMP HOSTNAME APP-NAME PROCID MSGID - MSG (RFC 5424 section 6).
type format struct {
	before, behind string // text on both sides of the timestamp
}

// timestamp is RFC 3339 with microseconds, which RFC 5424 allows at most. It always has the same length.
const timestamp = "2006-01-02T15:04:05.000000Z"

// maxDatagram is how long a message by UDP over IPv4 may be. A longer one is cut.
const maxDatagram = 65507

// none stands for a field that is not known.
const none = "-"

func newFormat(d *Destination, message string) format {
	host := none
	if name, err := os.Hostname(); err == nil && !d.WithoutHostname {
		host = printable(name)
	}
	const perFacility = 8
	return format{
		before: "<" + strconv.Itoa(d.Facility*perFacility+d.Severity) + ">1 ",
		behind: " " + host + " " + d.Tag + " " + strconv.Itoa(os.Getpid()) + " " + message + " - ",
	}
}

// printable returns a host name as HOSTNAME may be: up to 255 printable characters.
func printable(name string) string {
	if name == "" || len(name) > 255 || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return none
	}
	return name
}

// append appends the message of line, which is without its line feed.
func (f *format) append(b, line []byte, at time.Time) []byte {
	b = append(b, f.before...)
	b = at.UTC().AppendFormat(b, timestamp)
	b = append(b, f.behind...)
	return append(b, line...)
}

// appendCounted appends the message of line behind its length (RFC 6587 section 3.4.1).
func (f *format) appendCounted(b, line []byte, at time.Time) []byte {
	b = strconv.AppendInt(b, int64(len(f.before)+len(timestamp)+len(f.behind)+len(line)), 10)
	return f.append(append(b, ' '), line, at)
}

// nextLine returns the first line of p without its line feed, and its size with it.
func nextLine(p []byte) (line []byte, size int) {
	if i := bytes.IndexByte(p, '\n'); i >= 0 {
		return p[:i], i + 1
	}
	return p, len(p)
}
