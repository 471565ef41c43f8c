package trace

import (
	"bytes"
	"compress/gzip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The samples are made up, in the form that the servers' own documents give.

// A log of Caddy, with what it says of itself in between, names that come twice, and
// a client that left before there was a status.
const caddyLog = `{"level":"info","ts":1717236000.25,"logger":"admin","msg":"admin endpoint started","address":"localhost:2019"}
{"level":"info","ts":1717236000.5,"logger":"http.log.access.log0","msg":"handled request","request":{"remote_ip":"192.0.2.1","remote_port":"41342","client_ip":"192.0.2.1","proto":"HTTP/2.0","method":"GET","host":"WWW.Example.org","uri":"/a?q=\"x\"","headers":{"User-Agent":["curl/8.5"],"X":["}","\\\""]},"tls":{"resumed":false,"version":772,"proto":"h2"}},"bytes_read":0,"user_id":"","duration":0.0009,"size":10900,"status":200,"resp_headers":{"Server":["Caddy"],"status":["no"]}}
{"level":"info","ts":1717236001,"logger":"http.log.access","msg":"handled request","request":{"method":"GET","host":"www.example.org","uri":"/a?q=\u0022x\u0022"},"size":0,"status":304}
{"level":"info","ts":1717236002,"logger":"http.log.access","msg":"handled request","request":{"method":"HEAD","host":"www.example.org","uri":"/b"},"size":120,"status":200}
{"level":"error","ts":1717236003,"logger":"http.log.access","msg":"handled request","request":{"method":"GET","host":"www.example.org","uri":"/b"},"size":5,"status":502}
{"level":"info","ts":1717236004,"logger":"http.log.access","msg":"handled request","request":{"method":"GET","host":"www.example.org","uri":"/gone"},"size":0,"status":0}
{"level":"info","ts":1717236005,"logger":"http.log.access","msg":"handled request","request":{"method":"POST","host":"www.example.org","uri":"/b"},"size":5,"status":200}
{"level":"info","ts":1717236006,"logger":"http.log.access","msg":"handled request","request":{"method":"GET","host":"www.example.org","uri":"/cut"},"size":5,"sta
{"level":"info","ts":1717236006,"logger":"http.log.access","msg":"handled request","request":{"method":"GET","uri":"/no/size"},"status":200}
`

// Squid's native log, with a client that left, a tunnel, a refusal, the cache
// manager and what is no HTTP.
const squidLog = `1717236000.250    180 192.0.2.1 TCP_MISS/200 10900 GET http://WWW.Example.org/a?q=1 - HIER_DIRECT/198.51.100.7 text/html
1717236001.001      0 192.0.2.1 TCP_MEM_HIT/200 10904 GET http://www.example.org:80/a?q=1 jo HIER_NONE/- text/html
1717236001.002      1 192.0.2.1 TCP_IMS_HIT/304 301 GET http://www.example.org/a?q=1 - HIER_NONE/- -
1717236002.000     -1 192.0.2.2 TCP_MISS_ABORTED/000 0 GET http://www.example.org/gone - HIER_DIRECT/198.51.100.7 -
1717236003.000   9000 192.0.2.2 TCP_TUNNEL/200 3910 CONNECT www.example.org:443 - HIER_DIRECT/198.51.100.7 -
1717236004.000      4 192.0.2.2 TCP_DENIED/403 3900 GET http://other.example/ - HIER_NONE/- text/html
1717236005.000      4 192.0.2.2 NONE_NONE/400 3900 - error:invalid-request - HIER_NONE/- text/html
1717236006.000      4 192.0.2.2 TCP_MISS/200 900 GET cache_object://localhost/info - HIER_NONE/- text/plain
1717236007.000      4 192.0.2.2 TCP_MISS/200 90 HEAD https://www.example.org:443 - HIER_DIRECT/198.51.100.7 text/html
1717236008.000      4 192.0.2.2 TCP_MISS/200 900 GET https://www.example.org:8443?x - HIER_DIRECT/198.51.100.7 text/html
1717236009.000      4 192.0.2.2 TCP_MISS 900 GET http://www.example.org/ - HIER_DIRECT/198.51.100.7 text/html
1717236009.000      4 192.0.2.2 TCP_MISS/200 many GET http://www.example.org/ - HIER_DIRECT/198.51.100.7 text/html
soon      4 192.0.2.2 TCP_MISS/200 9 GET http://www.example.org/ - HIER_DIRECT/198.51.100.7 text/html
`

// tabbed turns | into tabs.
func tabbed(s string) string { return strings.ReplaceAll(s, "|", "\t") }

// CloudFront's standard log; two files, one behind the other.
var cloudFrontLog = tabbed(`#Version: 1.0
#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query cs(Cookie) x-edge-result-type x-edge-request-id x-host-header cs-protocol cs-bytes time-taken sc-content-len
2024-06-01|10:00:00|FRA60-P1|11300|192.0.2.1|GET|d111111abcdef8.cloudfront.net|/a%2520b|200|-|curl/8.5|q=1&r=2|-|Miss|id1==|WWW.Example.org|https|23|0.001|10900
2024-06-01|10:00:01|FRA60-P1|402|192.0.2.1|GET|d111111abcdef8.cloudfront.net|/a%2520b|304|-|curl/8.5|q=1&r=2|-|Hit|id2==|www.example.org|https|23|0.001|-
2024-06-01|10:00:02|FRA60-P1|902|192.0.2.1|GET|d111111abcdef8.cloudfront.net|/chunked|200|-|curl/8.5|-|-|Miss|id3==|www.example.org|https|23|0.001|-
2024-06-01|10:00:02|FRA60-P1|302|192.0.2.1|HEAD|d111111abcdef8.cloudfront.net|/chunked|200|-|curl/8.5|-|-|Hit|id4==|www.example.org|https|23|0.001|77
2024-06-01|10:00:03|FRA60-P1|902|192.0.2.1|GET|d111111abcdef8.cloudfront.net|/cut|206|-|curl/8.5|-|-|Hit|id5==|www.example.org|https|23|0.001|500
2024-06-01|10:00:03|FRA60-P1|many|192.0.2.1|GET|d111111abcdef8.cloudfront.net|/x|200|-|curl/8.5|-|-|Hit|id6==|www.example.org|https|23|0.001|-
2024-06-01|10:00:03|FRA60-P1|90|192.0.2.1
#Version: 1.0
#Fields: date time sc-bytes cs-method cs(Host) cs-uri-stem sc-status
2024-06-01|11:00:00|55|GET|d111111abcdef8.cloudfront.net|/short|200
`)

// The extended log format as IIS writes it: blanks, no host, fields that change when
// the server is started again; and as its draft has it, with quotes and the date in a
// directive.
const extendedLog = `#Software: Microsoft Internet Information Services 10.0
#Version: 1.0
#Date: 2024-06-01 10:00:00
#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) sc-status sc-substatus sc-win32-status sc-bytes time-taken
2024-06-01 10:00:00 192.0.2.9 GET /a q=1 443 - 192.0.2.1 Mozilla/5.0+(X11) 200 0 0 10900 12
2024-06-01 10:00:01 192.0.2.9 GET /a - 443 - 192.0.2.1 Mozilla/5.0+(X11) 200 0 0 300 12
2024-06-01 10:00:02 192.0.2.9 GET /a - 443 - 192.0.2.1 Mozilla/5.0+(X11) 404 0 2 300 12
2024-06-01 10:00:03 192.0.2.9 GET /a - 443
#Date: 2024-06-02 00:00:00
#Fields: time cs-method cs-uri cs-host cs(User-Agent) sc-status bytes
00:00:00 GET http://Www.Example.org/b "a ""quoted"" agent" 200 7
00:00:01 GET http://Www.Example.org/b www.example.org "a ""quoted"" agent" 200 7
00:00:02 GET /c WWW.example.org "agent" 200 8
00:00:02 GET /c WWW.example.org "agent 200 8
#Remark: what follows has no sizes
#Fields: time cs-method cs-uri sc-status
00:00:03 GET /d 200
`

func TestLogsOfServers(t *testing.T) {
	f := func(name, format, text string, bad, skipped int64, first, last int64, want ...string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			var packed bytes.Buffer
			z := gzip.NewWriter(&packed)
			if _, err := z.Write([]byte(text)); err != nil {
				t.Fatal(err)
			}
			if err := z.Close(); err != nil {
				t.Fatal(err)
			}
			for _, in := range []struct{ how, text, format string }{{"found out", text, ""}, {"forced", text, format}, {"gzip", packed.String(), ""}} {
				tr := read(t, in.text, Options{Format: in.format, Heads: true})
				got, facts := plain(t, tr), tr.Facts()
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s: requests (-want +got):\n%s", in.how, diff)
				}
				if facts.BadLines != bad || facts.Skipped != skipped || facts.Heads > 1 {
					t.Errorf("%s: got %d bad, %d skipped, %d HEADs; want %d, %d, 1 at most", in.how, facts.BadLines, facts.Skipped, facts.Heads, bad, skipped)
				}
				all := accesses(t, tr)
				if from, to := all[0].At, all[len(all)-1].At; !tr.HasTimes() || from != first*1e6 || to != last*1e6 {
					t.Errorf("%s: got %d to %d, want %d to %d ms", in.how, from/1e6, to/1e6, first, last)
				}
			}
		})
	}
	const june = 1_717_236_000_000 // 2024-06-01T10:00:00Z
	f("caddy", formatCaddy, caddyLog, 2, 4, june+500, june+2000, `www.example.org /a?q="x" 10900`, `www.example.org /a?q="x" 10900`, "www.example.org /b 0")
	f("squid", formatSquid, squidLog, 3, 5, june+250, june+8000,
		"www.example.org /a?q=1 10904", "www.example.org /a?q=1 10904", "www.example.org /a?q=1 10904",
		"www.example.org / 0", "www.example.org:8443 /?x 900")
	f("cloudfront", formatW3C, cloudFrontLog, 2, 1, june, june+3_600_000,
		"www.example.org /a%2520b?q=1&r=2 10900", "www.example.org /a%2520b?q=1&r=2 10900",
		"www.example.org /chunked 902", "www.example.org /chunked 902", "d111111abcdef8.cloudfront.net /short 55")
	f("w3c", formatW3C, extendedLog, 4, 1, june, june+14*3_600_000+2000,
		"/a?q=1 10900", "/a 300", "www.example.org /b 7", "www.example.org /c 8")
}

func TestCaddyTimesInEveryFormat(t *testing.T) {
	for _, ts := range []string{
		`1717236000.25`, `1717236000250.0`, `1717236000250000000`, `"2024-06-01T10:00:00.250Z"`, `"2024-06-01T12:00:00.250+0200"`,
		`"2024-06-01T10:00:00.25Z"`, `"2024-06-01T12:00:00.25+02:00"`, `"2024/06/01 10:00:00.250"`,
	} {
		var r request
		line := `{"ts":` + ts + `,"request":{"method":"GET","host":"h","uri":"/"},"size":1,"status":200}`
		if v := newCaddy()([]byte(line), &r); v != used || !r.timed || r.at != 1_717_236_000_250_000 {
			t.Errorf("%s: got verdict %d, %d, timed %v", ts, v, r.at, r.timed)
		}
	}
	var r request
	if v := newCaddy()([]byte(`{"ts":"01/Jun/2024:12:00:00 +0200","request":{"method":"GET","host":"h","uri":"/"},"size":1,"status":200}`), &r); v != used || r.at != 1_717_236_000_000_000 {
		t.Errorf("common_log: got verdict %d and %d", v, r.at)
	}
}

func TestW3CLogWithoutWhatItTakesSaysWhatIsMissing(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if _, err := try(t, text, Options{Format: formatW3C}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
	f("#Version: 1.0\n#Fields: date time cs-method cs-uri-stem sc-status\n", "#Fields: has no sc-bytes, nor a sc-content-len: have the server log it")
	f("#Fields: cs-uri-stem sc-status sc-bytes\n", "has no cs-method")
	f("#Fields: cs-method cs-uri-stem sc-bytes\n", "has no sc-status")
	f("#Fields: cs-method sc-status sc-bytes\n", "has no cs-uri-stem, nor a cs-uri")
	f("#Version: 1.0\nGET / 200 1\n", "#Fields: is missing")
	f("", "no usable request")
}

func TestW3CLinesAreSplit(t *testing.T) {
	f := func(line string, want ...string) {
		t.Helper()
		fields, ok := splitW3C(nil, []byte(line))
		var got []string
		for _, s := range fields {
			got = append(got, string(s))
		}
		if ok != (want != nil) || ok && !slices.Equal(got, want) {
			t.Errorf("%q: got %q, %v; want %q", line, got, ok, want)
		}
	}
	f("a  b c ", "a", "b", "c")
	f("a\tb c\t\td", "a", "b c", "", "d")
	f(`"a b" "c ""d"" e" f`, `"a b"`, `"c ""d"" e"`, "f")
	f(`a "b`)
	f(`a"b c`, `a"b`, "c")
}

// A log of nginx whose log_format has escape=json, by two sets of names: with numbers and with strings, a client that sent
// no request, an error, and a line without a length.
const nginxJSONLog = `{"time_iso8601":"2024-06-01T10:00:00+00:00","msec":"1717236000.250","remote_addr":"192.0.2.1","host":"WWW.Example.org","request":"GET /a?q=\u0022x\u0022 HTTP/1.1","status":"200","body_bytes_sent":"10900","http_user_agent":"curl/8.5 \"x\"","upstream_cache_status":"MISS"}
{"msec":1717236001.5,"http_host":"www.example.org","request_method":"GET","request_uri":"/b","status":"304","bytes_sent":60}
{"time_local":"01/Jun/2024:10:00:02 +0000","server_name":"www.example.org","request":"GET /b HTTP/2.0","status":200,"body_bytes_sent":77,"bytes_sent":300}
{"msec":"1717236003.000","host":"www.example.org","request":"","status":"400","body_bytes_sent":"0"}
{"msec":"1717236004.000","host":"www.example.org","request":"GET /b HTTP/1.1","status":"502","body_bytes_sent":"9"}
{"msec":"1717236004.000","host":"www.example.org","request":"GET /b HTTP/1.1","status":"200"}
`

func TestJSONOfNginxIsRead(t *testing.T) {
	tr := read(t, nginxJSONLog, Options{})
	want := []string{`www.example.org /a?q="x" 10900`, "www.example.org /b 77", "www.example.org /b 77"}
	if diff := cmp.Diff(want, plain(t, tr)); diff != "" {
		t.Error(diff)
	}
	if all := accesses(t, tr); len(all) == 3 && (all[1].At-all[0].At != 1_250_000_000 || all[2].At-all[1].At != 500_000_000) {
		t.Errorf("got the times %v", all)
	}
}
