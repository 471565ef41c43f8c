package trace

import (
	"bytes"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/ops/accesslog"
)

func TestReadersTakeTheRequestsAndCountTheRest(t *testing.T) {
	f := func(name, format, text string, bad, skipped int64, want ...string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			for _, force := range []string{"", format} {
				got := read(t, text, Options{Format: force})
				if diff := cmp.Diff(want, plain(t, got)); diff != "" {
					t.Errorf("format %q: requests (-want +got):\n%s", force, diff)
				}
				if facts := got.Facts(); facts.BadLines != bad || facts.Skipped != skipped {
					t.Errorf("format %q: got %d bad, %d skipped; want %d, %d", force, facts.BadLines, facts.Skipped, bad, skipped)
				}
			}
		})
	}
	f("seq", formatSeq, "1 7 10\n2 x 20\n\n3\t7  15\r\n"+strings.Repeat("4 7 1\n", 4)+"4 7\nx 7 3\n5 7 -1\n6 7 99999999999999999\n6 7 1099511627777\n7 7 1 2\n8 x 0\n99999999999999999999 7 3", 7, 0,
		"/o/7 15", "/o/x 20", "/o/7 15", "/o/7 15", "/o/7 15", "/o/7 15", "/o/7 15", "/o/x 20")
	f("combined", formatCombined, `1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET /a?b=c HTTP/1.1" 200 10 "http://r/" "agent"
1.2.3.4 - jo doe [17/May/2015:10:05:03 +0000] "GET /a?b=c HTTP/1.1" 304 - "-" "agent"
1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.0" 200 30
1.2.3.4 - - [17/May/2015:10:05:03 +0000] "HEAD /a HTTP/1.1" 200 0 "-" "-"
1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET /part HTTP/1.1" 206 7 "-" "-"
1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET /none HTTP/1.1" 404 7 "-" "-"
1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET /cut HTTP/1.1" 200 5 "-" "no end of agent
1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET /with space HTTP/1.1" 200 6 "-" "-"
1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET /q\"\x4a\\\t\x4 HTTP/1.1" 200 6 "-" "-"
1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET /old" 200 6 "-" "-"
1.2.3.4 - - [odd time] "GET //odd HTTP/1.1" 200 6 "-" "-"
1.2.3.4 - - [17/May/2015:10:05:03 +0000] "\x16\x03\x01" 400 226 "-" "-"
1.2.3.4 - - [17/May/2015:10:05:03 +0000] "-" 408 - "-" "-"
1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 2000 1 "-" "-"
1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 200 -5 "-" "-"
1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 200
1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1
1.2.3.4 - - [17/May/2015:10:05:03 +0000] "-" 200 5 "-" "-"
nothing of the kind
`, 6, 5,
		"/a?b=c 10", "/a?b=c 10", "/a 30", "/cut 5", "/with space 6", `/q"J\\t\x4 6`, "/old 6", "//odd 6")
	f("tsv", formatTSV, "host\tMethod\turl\tresponse\tbytes\treferer\nh\tGET\t/a\t200\t5\t\nh\tGET\t/a\t304\t0\t\nh\tPOST\t/a\t200\t9\t\nh\tGET\t/b\t404\t1\t\n"+
		"h\tGET\t/short\nh\tGET\t/a\t200\tmany\t\nh\tGET\t\t200\t1\t\nh\t\t/a\t200\t1\t\nh\tGET\t/a\tok\t1\t\nh\tGET\t/a\t200\t-\t\n", 5, 2,
		"/a 5", "/a 5", "/a 5")
	f("tsv with a mark and the least columns", formatTSV, "\xef\xbb\xbfsize\tkey\r\n5\ta\r\n6\tb\r\n", 0, 0, "a 5", "b 6")
	f("csv", formatCSV, `"time",url,status,"bytes",vhost`+"\n"+`1,"/a,b",200,5,WWW.Example.org`+"\n"+`1,"/say ""yes"" ""no""","200","6",www.example.org`+"\n"+
		`1,/a"b,200,7,`+"\n"+`1,"/open,200,7,`+"\n"+`1,"/a"b,200,7,`+"\n"+"1,/short,200,7\n"+`1,"/a,b",301,9,www.example.org`+"\n"+`1,"/a,b",304,9,www.example.org,more`, 3, 1,
		"www.example.org /a,b 9", `www.example.org /say "yes" "no" 6`, `/a"b 7`, "www.example.org /a,b 9")
	f("json", formatJSON, `{"time":"2026-01-02T03:04:05.000006Z","host":"a","target":"/x?\"\u00e9","method":"GET","status":200,"bytes":7,"result":"miss","reason":"","route":"default","duration":0.1}
 {"bytes":1, "status":304 , "method" :"GET","more":{"target":"no","b":[1,{"}":"]"}]},"target":"\/y","host":"A"}
{"target":"/y","method":"GET","status":200,"bytes":9,"bytes":3,"ts":1}
{"host":"a","target":"/x","method":"HEAD","status":200,"bytes":0}
{"host":"a","target":"/x","method":"GET","status":500,"bytes":0}
{"host":"a","target":"/private","method":"GET","status":200,"bytes":5,"result":"pass","reason":"private"}
{"host":"a","target":"/y","method":"GET","status":304,"bytes":0,"result":"pass","reason":"not-modified"}
{"host":"a","target":"/z","method":"GET","status":200,"bytes":0,"result":"error","reason":"incomplete"}
{"host":"","target":"","method":"","status":400,"bytes":12,"result":"error","reason":"bad-request"}
{"target":"/x","method":"GET","status":200}
{"target":"/x","method":"GET","bytes":1}
{"target":"/x","status":200,"bytes":1}
{"target":null,"method":"GET","status":200,"bytes":1}
{"target":"/x","method":"GET","status":200,"bytes":-1}
{"target":"/x","method":"GET","status":"ok","bytes":1}
{"target":"/x","method":"GET","status":200,"bytes":1
["target"]
`, 8, 5,
		`a /x?"%C3%A9 7`, "a /y 1", "/y 3", "a /y 1")
}

// TestOwnAccessLogIsReadBack ties the reader to the writer: names, order and
// words of the log.
func TestOwnAccessLogIsReadBack(t *testing.T) {
	var log bytes.Buffer
	w, err := accesslog.New(&log, accesslog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 3, 4, 5, 6, 7, 891011000, time.UTC)
	line := accesslog.Line{
		Time: at, Host: []byte("example.org"), Target: []byte("/a?\"\\\x01é"), Method: []byte("GET"), Status: 200, Bytes: 123,
		Result: "held_back", Reason: reason.FirstSighting.String(), Route: "default", Duration: time.Second, Client: netip.MustParseAddr("::1"),
	}
	w.Write(&line)
	for _, why := range []reason.Reason{reason.NotModified, reason.Precondition, reason.Private} {
		line.Result, line.Reason = "pass", why.String()
		w.Write(&line)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got := read(t, log.String(), Options{})
	want := []string{"example.org /a?\"\\\x01%C3%A9 123", "example.org /a?\"\\\x01%C3%A9 123", "example.org /a?\"\\\x01%C3%A9 123"}
	if diff := cmp.Diff(want, plain(t, got)); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if first := accesses(t, got)[0].At; first != at.UnixNano() || !got.HasTimes() {
		t.Errorf("time: got %d, want %d", first, at.UnixNano())
	}
	if got.Facts().Skipped != 1 {
		t.Errorf("got %d lines skipped, want the private one", got.Facts().Skipped)
	}
}

func TestHostsTellObjectsApart(t *testing.T) {
	tr := read(t, "url,bytes,vhost\n/a,1,x\n/a,2,y\n/a,3,X\n/a,4,\n", Options{})
	if got := accesses(t, tr); got[0].Object == got[1].Object || got[0].Object != got[2].Object || got[3].Object != 2 {
		t.Errorf("got objects of %v, want 0, 1, 0, 2", got)
	}
	if got := tr.Objects()[0].Size; got != 3 {
		t.Errorf("size of the first: got %d, want 3", got)
	}
}

func TestUnusableTraceIsAnErrorThatSaysWhy(t *testing.T) {
	f := func(name, text, format, want string) {
		t.Helper()
		if _, err := try(t, text, Options{Format: format}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want %q", name, err, want)
		}
	}
	f("popularity", "1\n1.0 0.04\n2.0 0.07\n3.0 0.03\n2\n1.0 0.5\n", "", "popularity distribution")
	f("xz", "\xfd7zXZ\x00rest", "", "unpack it first")
	f("bzip2", "BZh91AY", "", "unpack it first")
	f("gzip header", "\x1f\x8b\x08rest", "", "read standard input: ")
	f("prose", "Call me Ishmael.\nSome years ago\n", "", "format not recognised")
	f("another JSON", `{"a":1}`+"\n", "", "format not recognised")
	f("empty", "", "", "no usable request (0 bad lines, 0 skipped)")
	f("empty with header wanted", "", formatTSV, "no usable request")
	f("nothing usable", "odd\n1 2\n", formatSeq, "no usable request (2 bad lines, 0 skipped)")
	f("only posts", `h - - [t] "POST / HTTP/1.1" 200 1`, "", "no usable request (0 bad lines, 1 skipped)")
	f("no url", "a\tb\n1\t2\n", formatTSV, `no column "url", nor one of its other names: uri, `)
	f("no bytes", "url,b\n1,2\n", formatCSV, `no column "bytes"`)
	f("unquoted header", `url,"bytes`+"\n", formatCSV, "rules of quoting")
	f("endless header", strings.Repeat("x", maxLineBytes+1), formatCSV, "read the header line")
	f("unknown format", "1 2 3\n", "xml", `unknown format "xml": must be seq, combined, tsv, csv, json, caddy, squid, w3c`)
	if _, err := Read(t.Context(), nil, Options{}); err == nil {
		t.Error("no path: got no error")
	}
}

func TestOddFirstLinesDoNotDecideTheFormat(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if got, err := detect([]byte(text)); err != nil || got.form.name != want {
			t.Errorf("%q: got %q, %v; want %s", text, got.form.name, err, want)
		}
	}
	f("# made by hand\n1\n1 2 3\n2 3 4\n3 4 5\n", formatSeq)
	f("\n\n{\"a\":\n1 2 3\n", formatSeq)
	f(strings.Repeat("1 2 3\n", 2)+strings.Repeat(`h - - [t] "GET / HTTP/1.1" 200 1`+"\n", 3), formatCombined)
	f(strings.Repeat("1 2 3\n", sampledLines)+strings.Repeat(`h - - [t] "GET / HTTP/1.1" 200 1`+"\n", sampledLines+1), formatSeq)
}

func TestEveryHeadingIsUnderstood(t *testing.T) {
	for r, list := range headings() {
		for _, name := range list {
			heads := []string{roleTarget: "url", roleBytes: "bytes"}
			for len(heads) <= r {
				heads = append(heads, "")
			}
			heads[r] = strings.ToUpper(name)
			c, err := newColumns(splitTSV, headings(), []byte(strings.Join(heads, "\t")))
			if err != nil || c.at[r] != r {
				t.Errorf("heading %s: got column %v, %v; want %d", name, c, err, r)
			}
		}
	}
}

func TestTheFirstNameOfAHeadingWins(t *testing.T) {
	c, err := newColumns(splitTSV, headings(), []byte("id\tlength\tbytes_sent\turl\tbody_bytes_sent"))
	if err != nil || c.at[roleTarget] != 3 || c.at[roleBytes] != 4 {
		t.Errorf("got %+v, %v; want url and body_bytes_sent", c, err)
	}
}
