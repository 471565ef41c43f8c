package method

import (
	"strings"
	"testing"
)

// registry is IANA's HTTP Method Registry, https://www.iana.org/assignments/http-methods: its version of 2015-05-19, with what has been
// registered since: * (RFC 9110 section 18.2) and QUERY (RFC 10008); written down on 2026-11-29. Columns: method, safe, idempotent.
const registry = `
*                 no  no
ACL               no  yes
BASELINE-CONTROL  no  yes
BIND              no  yes
CHECKIN           no  yes
CHECKOUT          no  yes
CONNECT           no  no
COPY              no  yes
DELETE            no  yes
GET               yes yes
HEAD              yes yes
LABEL             no  yes
LINK              no  yes
LOCK              no  no
MERGE             no  yes
MKACTIVITY        no  yes
MKCALENDAR        no  yes
MKCOL             no  yes
MKREDIRECTREF     no  yes
MKWORKSPACE       no  yes
MOVE              no  yes
OPTIONS           yes yes
ORDERPATCH        no  yes
PATCH             no  no
POST              no  no
PRI               yes yes
PROPFIND          yes yes
PROPPATCH         no  yes
PUT               no  yes
QUERY             yes yes
REBIND            no  yes
REPORT            yes yes
SEARCH            yes yes
TRACE             yes yes
UNBIND            no  yes
UNCHECKOUT        no  yes
UNLINK            no  yes
UNLOCK            no  yes
UPDATE            no  yes
UPDATEREDIRECTREF no  yes
VERSION-CONTROL   no  yes
`

func TestASafeMethodOfTheRegistryWasNotKnown(t *testing.T) {
	n := 0
	for line := range strings.Lines(strings.TrimSpace(registry)) {
		columns := strings.Fields(line)
		name, safe, idempotent := columns[0], columns[1] == "yes", columns[2] == "yes"
		if Safe(name) != safe {
			t.Errorf("%s: got safe %v, want %v", name, Safe(name), safe)
		}
		if Safe(name) && !idempotent {
			t.Errorf("%s is taken for safe, and is not idempotent", name)
		}
		n++
	}
	if n != 41 {
		t.Errorf("the registry has %d methods, want 41", n)
	}
	for _, name := range []string{"", "get", "Query", "FOO", "M-SEARCH", "PURGE", "GET "} {
		if Safe(name) {
			t.Errorf("%q is taken for safe", name)
		}
	}
}

func TestRefusedMethods(t *testing.T) {
	for line := range strings.Lines(strings.TrimSpace(registry)) {
		name, _, _ := strings.Cut(line, " ")
		want := name == "CONNECT" || name == "PRI" || name == "TRACE"
		if got := Refused([]byte(name)); got != want {
			t.Errorf("%s: got refused %v, want %v", name, got, want)
		}
	}
}
