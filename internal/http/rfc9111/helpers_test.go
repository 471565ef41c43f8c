package rfc9111

import (
	"strings"
	"testing"
	"time"

	"edgeproxy/internal/http/field"
)

// received is the time of receipt in all tests that need one.
var received = time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)

// head makes a list of lines "Name: value".
func head(t testing.TB, lines ...string) field.List {
	t.Helper()
	var h field.List
	for _, line := range lines {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			t.Fatalf("header line %q has no colon", line)
		}
		h.Add(field.Canonical(name), strings.Trim(value, " \t"))
	}
	return h
}

// at returns the HTTP date of the time of receipt plus a duration.
func at(d time.Duration) string {
	return received.Add(d).Format("Mon, 02 Jan 2006 15:04:05 GMT")
}

func lines(values ...string) [][]byte {
	var out [][]byte
	for _, v := range values {
		out = append(out, []byte(v))
	}
	return out
}

// response returns a response that was received at once.
func response(t testing.TB, status int, lines ...string) ResponseFacts {
	t.Helper()
	return ResponseFacts{Status: status, Header: head(t, lines...), RequestTime: received, ResponseTime: received}
}

var get = RequestFacts{Method: "GET"}
