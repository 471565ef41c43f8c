package trace

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzCaddy holds what is read of a line against encoding/json.
func FuzzCaddy(f *testing.F) {
	for line := range strings.Lines(caddyLog) {
		f.Add(line)
	}
	f.Add(`{"request":{"method":"GET","uri":"/\ud800","host":1},"status":200,"size":1,"request":null,"ts":{}}`)
	f.Fuzz(func(t *testing.T, line string) {
		var r request
		v := newCaddy()([]byte(line), &r)
		var want struct {
			Request map[string]json.RawMessage
			Status  json.RawMessage
			Size    json.RawMessage
		}
		if !json.Valid([]byte(line)) || !strings.HasPrefix(strings.TrimLeft(line, " \t"), "{") {
			if v != bad {
				t.Errorf("%q: got verdict %d of what is no object", line, v)
			}
			return
		}
		if v != used || !utf8.ValidString(line) || strings.Count(line, `request`) > 1 || json.Unmarshal([]byte(line), &want) != nil {
			return
		}
		var uri, host string
		if json.Unmarshal(want.Request["uri"], &uri) != nil || uri != string(r.target) {
			t.Errorf("%q: got the target %q, want %q", line, r.target, uri)
		}
		if json.Unmarshal(want.Request["host"], &host) == nil && string(lower([]byte(host))) != string(r.host) {
			t.Errorf("%q: got the host %q, want %q", line, r.host, host)
		}
		if n, err := strconv.ParseInt(string(want.Size), 10, 64); !r.head && err == nil && n != r.size {
			t.Errorf("%q: got %d bytes, want %d", line, r.size, n)
		}
	})
}

func FuzzSquid(f *testing.F) {
	f.Add("http", "example.org", "/a?b", "GET", "200", "17")
	f.Add("HTTPS", "[2001:DB8::1]:443", "?x", "HEAD", "304", "0")
	f.Add("ftp", "h", "/", "GET", "200", "99999999999999999999")
	f.Fuzz(func(t *testing.T, scheme, host, rest, method, status, sent string) {
		for _, s := range []string{scheme, host, rest, method, status, sent} {
			if strings.ContainsAny(s, " \t\r\n") {
				return
			}
		}
		if strings.ContainsAny(host, "/?") || strings.ContainsAny(scheme, ":/") || rest != "" && rest[0] != '/' && rest[0] != '?' || method == "" || sent == "" || status == "" {
			return
		}
		line := fmt.Sprintf("1717236000.250    180 192.0.2.1 TCP_MISS/%s %s %s %s://%s%s - HIER_DIRECT/198.51.100.7 text/html", status, sent, method, scheme, host, rest)
		var r request
		v := newSquid()([]byte(line), &r)
		n, err := strconv.ParseUint(sent, 10, 64)
		understood := len(status) == 3 && strings.Trim(status, "0123456789") == "" && strings.Trim(sent, "0123456789") == "" &&
			err == nil && n <= maxObjectBytes && len(sent) <= 18
		if understood != (v != bad) {
			t.Fatalf("%q: got verdict %d", line, v)
		}
		if v != used {
			return
		}
		target := rest
		if !strings.HasPrefix(rest, "/") {
			target = "/" + rest
		}
		if method == "HEAD" {
			n = 0
		}
		port := ":80"
		if strings.EqualFold(scheme, "https") {
			port = ":443"
		}
		wantHost := strings.TrimSuffix(string(lower([]byte(host))), port)
		if string(r.target) != target || string(r.host) != wantHost || r.size != int64(n) || r.head != (method == "HEAD") || r.at != 1_717_236_000_250_000 {
			t.Errorf("%q: got %+v", line, r)
		}
	})
}

// FuzzW3C: lines of any fields, by tabs or blanks, are used as they say.
func FuzzW3C(f *testing.F) {
	f.Add("/a", "b=c", "200", "17", "example.org", true)
	f.Add("/a", "-", "304", "-", "-", false)
	f.Add(`"/a b"`, "", "200", "1", "H", false)
	f.Fuzz(func(t *testing.T, stem, query, status, sent, host string, tabs bool) {
		separator := " "
		if tabs {
			separator = "\t"
		}
		parts := []string{"2024-06-01", "10:00:00", "GET", stem, query, status, sent, host}
		for _, s := range parts {
			if strings.ContainsAny(s, "\t\r\n") || !tabs && (s == "" || strings.ContainsAny(s, ` "`)) {
				return
			}
		}
		p := &w3cParser{}
		if err := p.setFields([]byte("date time cs-method cs-uri-stem cs-uri-query sc-status sc-bytes cs(Host)")); err != nil {
			t.Fatal(err)
		}
		line := strings.Join(parts, separator)
		var r request
		v := p.parse([]byte(line), &r)
		if (v == used) != (r.target != nil) {
			t.Fatalf("%q: got verdict %d and the target %q", line, v, r.target)
		}
		if v != used {
			return
		}
		target := stem
		if query != "-" && query != "" {
			target += "?" + query
		}
		if host == "-" {
			host = ""
		}
		if string(r.target) != target || string(r.host) != string(lower([]byte(host))) || !r.timed || r.at != 1_717_236_000_000_000 || status != "200" && status != "304" {
			t.Errorf("%q: got %+v", line, r)
		}
		if n, err := strconv.ParseInt(sent, 10, 64); err == nil && n != r.size || err != nil && sent != "-" && sent != "" {
			t.Errorf("%q: got %d bytes", line, r.size)
		}
	})
}
