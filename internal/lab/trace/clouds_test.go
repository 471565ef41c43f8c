package trace

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The samples are made up, in the form that the documentation of the servers and clouds describes. Each has the same requests: two of one
// site, one of another with the same path, a HEAD, and what does not count.

const envoyLog = `[2024-06-01T10:00:00.250Z] "GET /a?q=1 HTTP/2" 200 - 0 10900 12 11 "192.0.2.1" "curl/8.5" "0d5b1f5e-3b39-4c4a-8f31-000000000001" "WWW.Example.org" "10.0.2.1:8080"
[2024-06-01T10:00:01.000Z] "GET /a?q=1 HTTP/1.1" 304 - 0 0 1 1 "-" "-" "0d5b1f5e-3b39-4c4a-8f31-000000000002" "www.example.org:443" "10.0.2.1:8080"
[2024-06-01T10:00:02.000Z] "GET /a?q=1 HTTP/2" 200 - 77 345 12 - "-" "-" "-" "shop.example.org" "10.0.2.1:8080"
[2024-06-01T10:00:03.000Z] "HEAD /a?q=1 HTTP/2" 200 - 0 0 12 11 "-" "-" "-" "shop.example.org" "10.0.2.1:8080"
[2024-06-01T10:00:03.500Z] "POST /a HTTP/2" 200 - 154 9 226 100 "-" "-" "-" "shop.example.org" "10.0.2.1:8080"
[2024-06-01T10:00:04.000Z] "GET /b HTTP/2" 503 UF,URX 0 91 12 - "-" "-" "-" "shop.example.org" "-"
[2024-06-01T10:00:04.000Z] "- - -" 0 NR 0 0 0 - "-" "-" "-" "-" "-"
[2024-06-01T10:00:04.500Z] "GET /b HTTP/2" 0 DC 0 0 12 - "-" "-" "-" "shop.example.org" "-"
[2024-06-01T10:00:05.000Z] "GET /c HTTP/2" 200 - 0 many 12 - "-" "-" "-" "shop.example.org" "-"
`

const istioLog = `[2024-06-01T10:00:00.250Z] "GET /a?q=1 HTTP/1.1" 200 - via_upstream - "-" 0 10900 12 11 "192.0.2.1" "curl/8.5" "0d5b1f5e" "www.example.org" "127.0.0.1:80" inbound|80|| 127.0.0.6:41854 10.44.1.27:80 192.0.2.1:0 outbound_.80_._.web.default.svc.cluster.local default
[2024-06-01T10:00:01.000Z] "GET /a?q=1 HTTP/1.1" 304 - via_upstream - "-" 0 0 1 1 "-" "curl/8.5" "0d5b1f5e" "www.example.org:80" "127.0.0.1:80" inbound|80|| - 10.44.1.27:80 192.0.2.1:0 - default
[2024-06-01T10:00:02.000Z] "GET /a?q=1 HTTP/1.1" 200 - "-" "-" 0 345 3 1 "-" "curl/8.5" "0d5b1f5e" "shop.example.org" "127.0.0.1:80" inbound|80|http|shop - 10.44.1.27:80 192.0.2.1:0 -
[2024-06-01T10:00:03.000Z] "HEAD /a?q=1 HTTP/1.1" 200 - via_upstream - "-" 0 0 3 1 "-" "curl/8.5" "0d5b1f5e" "shop.example.org" "127.0.0.1:80" inbound|80|| - 10.44.1.27:80 192.0.2.1:0 - default
[2024-06-01T10:00:03.000Z] "GET /b HTTP/1.1" 503 UC upstream_reset_before_response_started{connection_termination} - "-" 0 95 3 - "-" "curl/8.5" "0d5b1f5e" "shop.example.org" "127.0.0.1:80" inbound|80|| - 10.44.1.27:80 192.0.2.1:0 - default
`

const envoyJSONLog = `{"start_time":"2024-06-01T10:00:00.250Z","method":"GET","path":"/a?q=1","protocol":"HTTP/2","response_code":200,"response_flags":"-","bytes_received":0,"bytes_sent":10900,"duration":12,"authority":"WWW.Example.org","upstream_host":"10.0.2.1:8080"}
{"start_time":"2024-06-01T10:00:01.000Z","method":"GET","path":"/a?q=1","response_code":"304","bytes_sent":"0","authority":"www.example.org"}
{"start_time":"2024-06-01T10:00:02.000Z","method":"GET","path":"/a?q=1","response_code":200,"bytes_sent":345,"authority":"shop.example.org"}
{"start_time":"2024-06-01T10:00:03.000Z","method":"HEAD","path":"/a?q=1","response_code":200,"bytes_sent":0,"authority":"shop.example.org"}
{"start_time":"2024-06-01T10:00:03.000Z","method":"GET","path":"/a?q=1","response_code":0,"bytes_sent":0,"authority":"shop.example.org"}
`

// With the Host among the captured fields, as the target of HTTP/2, and by the SNI.
const haproxyLog = `192.0.2.1:33317 [01/Jun/2024:10:00:00.250] web~ app/s1 10/0/30/69/109 200 10900 - - ---- 1/1/1/1/0 0/0 {WWW.Example.org|curl/8.5} {nginx} "GET /a?q=1 HTTP/1.1"
192.0.2.1:33317 [01/Jun/2024:10:00:01.000] web~ app/s1 0/0/0/1/1 304 210 - - ---- 1/1/1/1/0 0/0 "GET https://www.example.org/a?q=1 HTTP/2.0"
192.0.2.1:33318 [01/Jun/2024:10:00:02.000] web~ app/s1 0/0/0/1/1 200 +345 - - ---- 1/1/1/1/0 0/0 {192.0.2.77} "GET /a?q=1 HTTP/1.1" 0/0000000000000000/0/0/0 shop.example.org/TLSv1.3/TLS_AES_256_GCM_SHA384
192.0.2.1:33318 [01/Jun/2024:10:00:03.000] web~ app/s1 0/0/0/1/1 200 345 - - ---- 1/1/1/1/0 0/0 {shop.example.org} "HEAD /a?q=1 HTTP/1.1"
192.0.2.1:33319 [01/Jun/2024:10:00:04.000] web web/<NOSRV> -1/-1/-1/-1/0 400 187 - - PR-- 1/1/0/0/0 0/0 "<BADREQ>"
192.0.2.1:33320 [01/Jun/2024:10:00:04.000] web app/s1 0/0/-1/-1/5 -1 0 - - CC-- 1/1/0/0/0 0/0 "GET /b HTTP/1.1"
192.0.2.1:33321 [01/Jun/2024:10:00:05.000] tcp app/s1 0/0/5 212 -- 0/0/0/0/0 0/0
`

const albLog = `https 2024-06-01T10:00:00.250000Z app/web/50dc6c495c0c9188 192.0.2.1:2817 10.0.0.1:80 0.000 0.001 0.000 200 200 34 10900 "GET https://WWW.Example.org:443/a?q=1 HTTP/2.0" "curl/8.5" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2 arn:aws:elasticloadbalancing:eu-central-1:123456789012:targetgroup/web/73e2d6bc24d8a067 "Root=1-58337262-36d228ad5d99923122bbe354" "www.example.org" "session-reused" 0 2024-06-01T10:00:00.200000Z "forward" "-" "-" "10.0.0.1:80" "200" "-" "-"
http 2024-06-01T10:00:01.000000Z app/web/50dc6c495c0c9188 192.0.2.1:2817 10.0.0.1:80 0.000 0.001 0.000 304 304 34 120 "GET http://www.example.org:80/a?q=1 HTTP/1.1" "curl/8.5" - - arn "Root=1" "-" "-" 0 2024-06-01T10:00:00.900000Z "forward" "-" "-" "10.0.0.1:80" "304" "-" "-"
2024-06-01T10:00:02.000000Z classic 192.0.2.1:2817 10.0.0.1:80 0.000073 0.001048 0.000057 200 200 0 345 "GET http://shop.example.org:80/a?q=1 HTTP/1.1" "curl/8.5" - -
http 2024-06-01T10:00:03.000000Z app/web/50dc6c495c0c9188 192.0.2.1:2817 10.0.0.1:80 0.000 0.001 0.000 200 200 34 120 "HEAD http://shop.example.org:80/a?q=1 HTTP/1.1" "curl/8.5" - - arn "Root=1" "-" "-" 0 2024-06-01T10:00:00.900000Z "forward" "-" "-" "10.0.0.1:80" "200" "-" "-"
http 2024-06-01T10:00:04.000000Z app/web/50dc6c495c0c9188 192.0.2.1:2817 - -1 -1 -1 400 - 34 120 "- http://web.eu-central-1.elb.amazonaws.com:80- -" "-" - - - "-" "-" "-" - 2024-06-01T10:00:00.900000Z "-" "-" "-" "-" "-" "-" "-"
wss 2024-06-01T10:00:05.000000Z app/web/50dc6c495c0c9188 192.0.2.1:2817 10.0.0.1:80 0.000 0.001 0.000 - 101 34 120 "GET wss://www.example.org:443/chat HTTP/1.1" "-" - - arn "-" "-" "-" 0 2024-06-01T10:00:00.900000Z "forward" "-" "-" "10.0.0.1:80" "101" "-" "-"
`

// As Athena writes the columns of Amazon's own table.
const albCSVLog = `"type","time","elb","client_ip","elb_status_code","sent_bytes","request_verb","request_url","request_proto"
"https","2024-06-01T10:00:00.250000Z","app/web/1","192.0.2.1","200","10900","GET","https://www.example.org:443/a?q=1","HTTP/2.0"
"https","2024-06-01T10:00:01.000000Z","app/web/1","192.0.2.1","304","100","GET","https://www.example.org:443/a?q=1","HTTP/2.0"
"https","2024-06-01T10:00:02.000000Z","app/web/1","192.0.2.1","200","345","GET","https://shop.example.org:443/a?q=1","HTTP/2.0"
"https","2024-06-01T10:00:03.000000Z","app/web/1","192.0.2.1","200","345","HEAD","https://shop.example.org:443/a?q=1","HTTP/2.0"
`

const traefikLog = `192.0.2.1 - - [01/Jun/2024:10:00:00 +0000] "GET /a?q=1 HTTP/2.0" 200 10900 "-" "curl/8.5" 1 "WWW.Example.org" "http://10.0.0.1:80" 3ms
192.0.2.1 - jo [01/Jun/2024:10:00:01 +0000] "GET /a?q=1 HTTP/1.1" 304 0 "-" "a \"quoted\" agent" 2 "www.example.org" "http://10.0.0.1:80" 1ms
192.0.2.1 - - [01/Jun/2024:10:00:02 +0000] "GET /a?q=1 HTTP/1.1" 200 345 "https://r.example/" "-" 3 "shop.example.org" "http://10.0.0.2:80" 1ms
192.0.2.1 - - [01/Jun/2024:10:00:03 +0000] "HEAD /a?q=1 HTTP/1.1" 200 0 "-" "-" 4 "shop.example.org" "http://10.0.0.2:80" 0ms
192.0.2.1 - - [01/Jun/2024:10:00:04 +0000] "GET /b HTTP/1.1" 404 19 "-" "-" 5 "-" "-" 0ms
`

const traefikJSONLog = `{"ClientAddr":"192.0.2.1:41342","ClientHost":"192.0.2.1","DownstreamContentSize":10900,"DownstreamStatus":200,"Duration":3000000,"RequestAddr":"WWW.Example.org:443","RequestHost":"www.example.org","RequestMethod":"GET","RequestPath":"/a?q=1","RequestProtocol":"HTTP/2.0","RouterName":"web@docker","StartLocal":"2024-06-01T12:00:00.25+02:00","StartUTC":"2024-06-01T10:00:00.25Z","level":"info","msg":"","time":"2024-06-01T10:00:01Z"}
{"DownstreamContentSize":0,"DownstreamStatus":304,"RequestHost":"www.example.org","RequestMethod":"GET","RequestPath":"/a?q=1","StartUTC":"2024-06-01T10:00:01Z","time":"2024-06-01T10:00:01Z"}
{"DownstreamContentSize":345,"DownstreamStatus":200,"RequestAddr":"shop.example.org","RequestMethod":"GET","RequestPath":"/a?q=1","StartUTC":"2024-06-01T10:00:02Z"}
{"DownstreamContentSize":0,"DownstreamStatus":200,"RequestAddr":"shop.example.org","RequestMethod":"HEAD","RequestPath":"/a?q=1","time":"2024-06-01T10:00:03Z"}
{"DownstreamContentSize":0,"DownstreamStatus":0,"RequestAddr":"shop.example.org","RequestMethod":"GET","RequestPath":"/a?q=1","time":"2024-06-01T10:00:04Z"}
{"level":"info","msg":"Configuration loaded","time":"2024-06-01T10:00:04Z"}
`

const ingressLog = `192.0.2.1 - - [01/Jun/2024:10:00:00 +0000] "GET /a?q=1 HTTP/2.0" 200 10900 "-" "curl/8.5" 392 0.003 [www.example.org] [] 10.0.0.1:8080 10900 0.003 200 3c1bd9d6
192.0.2.1 - jo [01/Jun/2024:10:00:01 +0000] "GET /a?q=1 HTTP/1.1" 304 0 "-" "a \x22quoted\x22 agent" 392 0.003 [www.example.org] [] 10.0.0.1:8080 0 0.003 304 3c1bd9d6
192.0.2.1 - - [01/Jun/2024:10:00:02 +0000] "GET /a?q=1 HTTP/1.1" 200 345 "https://r.example/" "-" 392 0.003 [shop.example.org] [] 10.0.0.2:8080, 10.0.0.3:8080 0, 345 0.001, 0.003 502, 200 3c1bd9d6
192.0.2.1 - - [01/Jun/2024:10:00:03 +0000] "HEAD /a?q=1 HTTP/1.1" 200 0 "-" "-" 392 0.003 [shop.example.org] [] 10.0.0.2:8080 0 0.003 200 3c1bd9d6
192.0.2.1 - - [01/Jun/2024:10:00:04 +0000] "\x16\x03\x01" 400 150 "-" "-" 0 0.003 [] [] - - - - 3c1bd9d6
`

const ingressJSONLog = `{"time": "2024-06-01T10:00:00+00:00", "remote_addr": "192.0.2.1", "bytes_sent": 10900, "request_time": 0.003, "status": 200, "vhost": "WWW.Example.org", "request_proto": "HTTP/2.0", "path": "/a", "request_query": "q=1", "method": "GET", "http_user_agent": "curl/8.5" }
{"time": "2024-06-01T10:00:01+00:00", "bytes_sent": 210, "status": 304, "vhost": "www.example.org", "path": "/a", "request_query": "q=1", "method": "GET"}
{"time": "2024-06-01T10:00:02+00:00", "bytes_sent": 345, "status": 200, "vhost": "shop.example.org", "path": "/a", "request_query": "q=1", "method": "GET"}
{"time": "2024-06-01T10:00:03+00:00", "bytes_sent": 345, "status": 200, "vhost": "shop.example.org", "path": "/a", "request_query": "q=1", "method": "HEAD"}
`

const cloudflareLog = `{"ClientIP":"192.0.2.1","ClientRequestHost":"WWW.Example.org","ClientRequestMethod":"GET","ClientRequestURI":"/a?q=1","EdgeEndTimestamp":"2024-06-01T10:00:01Z","EdgeResponseBytes":11300,"EdgeResponseBodyBytes":10900,"EdgeResponseStatus":200,"EdgeStartTimestamp":"2024-06-01T10:00:00Z","RayID":"1"}
{"ClientRequestHost":"www.example.org","ClientRequestMethod":"GET","ClientRequestURI":"/a?q=1","EdgeResponseBodyBytes":0,"EdgeResponseBytes":400,"EdgeResponseStatus":304,"EdgeStartTimestamp":1717236001}
{"ClientRequestHost":"shop.example.org","ClientRequestMethod":"GET","ClientRequestURI":"/a?q=1","EdgeResponseBytes":345,"EdgeResponseStatus":200,"EdgeStartTimestamp":1717236002000000000}
{"ClientRequestHost":"shop.example.org","ClientRequestMethod":"HEAD","ClientRequestURI":"/a?q=1","EdgeResponseBytes":345,"EdgeResponseStatus":200,"EdgeStartTimestamp":1717236003000}
{"ClientRequestHost":"shop.example.org","ClientRequestMethod":"PURGE","ClientRequestURI":"/a?q=1","EdgeResponseBytes":345,"EdgeResponseStatus":200,"EdgeStartTimestamp":1717236003000}
`

const cloudflareCSVLog = `ClientRequestHost,ClientRequestMethod,ClientRequestURI,EdgeResponseBytes,EdgeResponseStatus,EdgeStartTimestamp
www.example.org,GET,/a?q=1,10900,200,2024-06-01T10:00:00Z
www.example.org,GET,/a?q=1,0,304,2024-06-01T10:00:01Z
shop.example.org,GET,/a?q=1,345,200,2024-06-01T10:00:02Z
shop.example.org,HEAD,/a?q=1,0,200,2024-06-01T10:00:03Z
`

const cloudFrontJSONLog = `{"date":"2024-06-01","time":"10:00:00","x-edge-location":"FRA60-P1","sc-bytes":"11300","c-ip":"192.0.2.1","cs-method":"GET","cs(Host)":"d111111abcdef8.cloudfront.net","cs-uri-stem":"/a","sc-status":"200","cs-uri-query":"q=1","x-host-header":"WWW.Example.org","sc-content-len":"10900"}
{"date":"2024-06-01","time":"10:00:01","sc-bytes":"402","cs-method":"GET","cs(Host)":"d111111abcdef8.cloudfront.net","cs-uri-stem":"/a","sc-status":"304","cs-uri-query":"q=1","x-host-header":"www.example.org","sc-content-len":"-"}
{"date":"2024-06-01","time":"10:00:02","sc-bytes":345,"cs-method":"GET","cs(Host)":"shop.example.org","cs-uri-stem":"/a","sc-status":200,"cs-uri-query":"q=1","x-host-header":"-","sc-content-len":"-"}
{"date":"2024-06-01","time":"10:00:03","sc-bytes":"302","cs-method":"HEAD","cs-uri-stem":"/a","sc-status":"200","cs-uri-query":"q=1","x-host-header":"shop.example.org","sc-content-len":"77"}
{"date":"2024-06-01","time":"10:00:03","sc-bytes":"302","cs-method":"GET","cs-uri-stem":"/cut","sc-status":"000","cs-uri-query":"-","x-host-header":"shop.example.org","sc-content-len":"-"}
`

const gcpLog = `{"httpRequest":{"latency":"0.003s","protocol":"HTTP/2","remoteIp":"192.0.2.1","requestMethod":"GET","requestSize":"34","requestUrl":"https://WWW.Example.org/a?q=1","responseSize":"10900","status":200,"userAgent":"curl/8.5"},"insertId":"1","jsonPayload":{"@type":"type.googleapis.com/google.cloud.loadbalancing.type.LoadBalancerLogEntry","statusDetails":"response_sent_by_backend"},"logName":"projects/p/logs/requests","receiveTimestamp":"2024-06-01T10:00:01.1Z","resource":{"type":"http_load_balancer"},"timestamp":"2024-06-01T10:00:00.250000Z"}
{"httpRequest":{"requestMethod":"GET","requestUrl":"https://www.example.org/a?q=1","status":304},"timestamp":"2024-06-01T10:00:01Z"}
{"timestamp":"2024-06-01T10:00:02Z","httpRequest":{"requestMethod":"GET","requestUrl":"http://shop.example.org/a?q=1","status":200,"responseSize":"345"}}
{"timestamp":"2024-06-01T10:00:03Z","httpRequest":{"requestMethod":"HEAD","requestUrl":"http://shop.example.org/a?q=1","status":200}}
{"timestamp":"2024-06-01T10:00:04Z","httpRequest":{"requestMethod":"GET","requestUrl":"http://shop.example.org/gone","status":0}}
`

// TestALogOfAProxyOrACloudLostSizesOrHosts: Envoy's was taken for the combined format, with 0 bytes for each response, and most others were not
// read, or as if all hosts were one.
func TestALogOfAProxyOrACloudLostSizesOrHosts(t *testing.T) {
	want := []string{"www.example.org /a?q=1 10900", "www.example.org /a?q=1 10900", "shop.example.org /a?q=1 345", "shop.example.org /a?q=1 345"}
	f := func(name, format, text string, bad, skipped int64) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			for _, force := range []string{"", format} {
				tr := read(t, text, Options{Format: force, Heads: true})
				if diff := cmp.Diff(want, plain(t, tr)); diff != "" {
					t.Errorf("format %q: requests (-want +got):\n%s", force, diff)
				}
				if facts := tr.Facts(); facts.BadLines != bad || facts.Skipped != skipped || facts.Heads != 1 {
					t.Errorf("format %q: got %d bad, %d skipped, %d HEADs; want %d, %d, 1", force, facts.BadLines, facts.Skipped, facts.Heads, bad, skipped)
				}
				all := accesses(t, tr)
				first, last := all[0].At/1e9, all[3].At/1e9
				if !tr.HasTimes() || first != 1_717_236_000 || last != 1_717_236_003 {
					t.Errorf("format %q: got times %v from %d to %d", force, tr.HasTimes(), first, last)
				}
			}
		})
	}
	f("envoy", "envoy", envoyLog, 1, 4)
	f("istio", "envoy", istioLog, 0, 1)
	f("envoy json", "envoy", envoyJSONLog, 0, 1)
	f("haproxy", "haproxy", haproxyLog, 1, 2)
	f("alb", "alb", albLog, 0, 2)
	f("alb csv", "alb", albCSVLog, 0, 0)
	f("traefik", "traefik", traefikLog, 0, 1)
	f("traefik json", "traefik", traefikJSONLog, 1, 1)
	f("ingress-nginx", "ingress-nginx", ingressLog, 0, 1)
	f("ingress-nginx json", "ingress-nginx", ingressJSONLog, 0, 0)
	f("cloudflare", "cloudflare", cloudflareLog, 0, 1)
	f("cloudflare csv", "cloudflare", cloudflareCSVLog, 0, 0)
	f("cloudfront json", "cloudfront", cloudFrontJSONLog, 0, 1)
	f("gcp", "gcp", gcpLog, 0, 1)
}

func TestNoOtherFormatTakesALogOfEnvoy(t *testing.T) {
	for line := range strings.Lines(envoyLog + istioLog) {
		if v := newCombined()([]byte(line), &request{}); v != bad && !strings.Contains(line, "many") {
			t.Errorf("%q: got verdict %d of the combined format", line, v)
		}
	}
	if g, err := detect([]byte(istioLog)); err != nil || g.form.name != "envoy" {
		t.Errorf("got %q, %v", g.form.name, err)
	}
	// Without a client in front, as a log_format of nginx may have it.
	tr := read(t, `[01/Jun/2024:10:00:00 +0000] "GET /a HTTP/1.1" 200 12
[01/Jun/2024:10:00:00 +0000] "GET /a HTTP/1.1" 304 - "-" "agent of 3 words"`, Options{})
	if got := plain(t, tr); !slices.Equal(got, []string{"/a 12", "/a 12"}) {
		t.Errorf("got %q", got)
	}
}

// TestLogsWithTheHostInFrontLostIt: twenty sites of one server were one in the replay of Apache's vhost_combined and of nginx with $host first.
func TestLogsWithTheHostInFrontLostIt(t *testing.T) {
	const rest = ` [01/Jun/2024:10:00:00 +0000] "GET /a HTTP/1.1" 200 12 "-" "-"` + "\n"
	f := func(want string, fronts ...string) {
		t.Helper()
		tr := read(t, strings.Join(fronts, rest)+rest, Options{})
		last := plain(t, tr)
		if got, _, _ := strings.Cut(last[len(last)-1], "/"); strings.TrimSpace(got) != want {
			t.Errorf("%q: got the host %q, want %q", fronts, got, want)
		}
	}
	f("www.example.org", "WWW.Example.org:443 192.0.2.1 - -")
	f("www.example.org", "www.example.org:80 2001:db8::1 - jo doe")
	f("www.example.org:8080", "www.example.org:8080 192.0.2.1 - -")
	f("www.example.org", "www.example.org. 192.0.2.1 - -")
	f("www.example.org", "www.example.org 192.0.2.1 -")
	f("www.example.org", "www.example.org unix: - -")
	f("shop", "shop 192.0.2.1 - -")
	f("www.example.org", "www.example.org client.example.net - -")
	f("www.example.org", "192.0.2.1 www.example.org - -")
	f("shop", "192.0.2.1 shop - jo")
	f("192.0.2.9", "www.example.org 192.0.2.1 - -", "192.0.2.9:80 192.0.2.1 - -")
	f("", "192.0.2.9:80 192.0.2.1 - -")
	for _, client := range []string{
		"192.0.2.1 - -", "192.0.2.1 - jo", "192.0.2.1 - jo doe", "client.example.net - -", "client.example.net - jo doe", "192.0.2.1 ident jo",
		"192.0.2.1, 192.0.2.2 - -", "unknown, 192.0.2.2 - -", "192.0.2.1 192.0.2.2 - -", "1717236000.250 192.0.2.1 - -", "2024-06-01T10:00:00.25Z 192.0.2.1 - -",
		"- 192.0.2.1 - -", "nginx: 192.0.2.1 - -", "web-1 | 192.0.2.1 - -", "192.0.2.1 - [192.0.2.1] - -", "x",
	} {
		f("", client)
	}
}

// Forward proxies, and Varnish, log whole URLs.
func TestATargetThatIsAURLHasTheHost(t *testing.T) {
	tr := read(t, `192.0.2.1 - - [01/Jun/2024:10:00:00 +0000] "GET http://WWW.Example.org:80/a?q=1 HTTP/1.1" 200 12 "-" "-"
www.example.org 192.0.2.1 - - [01/Jun/2024:10:00:00 +0000] "GET /a?q=1 HTTP/1.1" 200 12 "-" "-"`, Options{})
	if got, want := plain(t, tr), []string{"www.example.org /a?q=1 12", "www.example.org /a?q=1 12"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestAGuessThatFitsTooFewLinesWasUsed: the format that fits most lines was taken, even if it fitted one of fifty.
func TestAGuessThatFitsTooFewLinesWasUsed(t *testing.T) {
	f := func(name, text, want string) {
		t.Helper()
		tr, err := try(t, text, Options{})
		if want == "" && err == nil {
			return
		}
		if err == nil || want == "" || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, %v; want %q", name, tr, err, want)
		}
	}
	const good, odd = "1 a 10\n", "odd\n"
	lines := func(text string, n int) string { return strings.Repeat(text, n) }
	f("half of few", lines(good, 2)+lines(odd, 2), "")
	f("less of few", lines(good, 2)+lines(odd, 3), "of the first 5 lines 2 are like seq, too few to go by; --format seq uses those")
	f("three quarters", lines(good, 15)+lines(odd, 5), "")
	f("less than three quarters", lines(good, 14)+lines(odd, 6), "of the first 20 lines 14 are like seq")
	f("one of fifty", lines(odd, 49)+good, "of the first 50 lines 1 are like seq")
	f("later", lines(good, 50)+lines(odd, 17), "the first lines look like the format seq, but of 67 lines only 50 do: --format seq uses those")
	f("later, and few", lines(good, 60)+lines(odd, 20), "")
	f("behind a header", "url,bytes\n"+lines("a,1\n", 5)+lines("a\n", 30), "the format csv, but of 35 lines only 5 do")
	f("JSON over many lines", "{\n  \"target\": \"/a\"\n}\n", "jq -c")
	f("JSON in a list", `[{"target":"/a"},`+"\n"+`{"target":"/b"}]`, "jq -c '.[]'")

	tr := read(t, lines(good, 2)+lines(odd, 30), Options{Format: formatSeq})
	if got := tr.Facts(); got.Requests != 2 || got.BadLines != 30 {
		t.Errorf("a format that was given: got %+v, want its 2 lines", got)
	}
	// The second file is its own.
	first, second := write(t, "first", []byte(lines(good, 1000))), write(t, "second", []byte(lines(good, 50)+lines(odd, 100)))
	if _, err := Read(t.Context(), []string{first, second}, Options{}); err == nil || !strings.Contains(err.Error(), "read second: ") {
		t.Errorf("got %v, want the second file to be refused", err)
	}
}

// TestALogBehindAPrefixWasNotRead: docker compose, Kubernetes, Docker and syslog put something around the lines.
func TestALogBehindAPrefixWasNotRead(t *testing.T) {
	const (
		object = `{"ts":1717236000.5,"logger":"http.log.access","msg":"handled request","request":{"method":"GET","host":"www.example.org","uri":"/a"},"size":12,"status":200}`
		vhost  = `www.example.org 192.0.2.1 - - [01/Jun/2024:10:00:00 +0000] "GET /a HTTP/1.1" 200 12 "-" "curl | bash"`
		envoy  = `[2024-06-01T10:00:00.250Z] "GET /a HTTP/2" 200 - 0 12 12 11 "192.0.2.1" "curl/8.5" "0d5b" "www.example.org" "10.0.2.1:8080"`
	)
	quoted := func(s string) string { return strings.ReplaceAll(s, `"`, `\"`) }
	f := func(name, before, line, behind string) {
		t.Helper()
		for _, format := range []string{"", map[string]string{object: formatCaddy, vhost: formatCombined, envoy: "envoy"}[line]} {
			text := strings.Repeat(before+line+behind+"\n", 3)
			if format == "" {
				text += before + behind + "\n" // an empty line
			}
			tr := read(t, text, Options{Format: format})
			want := slices.Repeat([]string{"www.example.org /a 12"}, 3)
			if diff := cmp.Diff(want, plain(t, tr)); diff != "" || tr.Facts().BadLines > 0 {
				t.Errorf("%s, format %q: %d bad lines, requests (-want +got):\n%s", name, format, tr.Facts().BadLines, diff)
			}
		}
	}
	for _, line := range []string{object, vhost, envoy} {
		f("docker compose", "caddy-1  | ", line, "")
		f("docker compose, short", "caddy | ", line, "")
		f("kubectl logs --prefix", "[pod/web-5c6b/istio-proxy] ", line, "")
		f("a file of Kubernetes", "2024-06-01T10:00:00.250000000Z stdout F ", line, "")
		f("syslog", "Jun  1 10:00:00 web1 caddy[123]: ", line, "")
		f("syslog with a priority", "<134>Jun 11 10:00:00 web1 nginx: ", line, "")
		f("syslog with a year", "2024-06-01T10:00:00.250+02:00 web1 caddy: ", line, "")
	}
	for _, line := range []string{object, vhost, envoy} {
		t.Run("docker", func(t *testing.T) {
			tr := read(t, strings.Repeat(`{"log":"`+quoted(line)+`\n","stream":"stdout","time":"2024-06-01T10:00:00.25Z"}`+"\n", 3), Options{})
			if got := plain(t, tr); !slices.Equal(got, slices.Repeat([]string{"www.example.org /a 12"}, 3)) {
				t.Errorf("%s: got %q", line, got)
			}
		})
	}
	// Whatever it is, before an object.
	tr := read(t, "2024/06/01 10:00:00 INFO "+object+"\n"+object+"\nproxy: "+object+"\n", Options{})
	if got := plain(t, tr); len(got) != 3 {
		t.Errorf("text before objects: got %q", got)
	}
	// What the other services say are lines of another format.
	mixed := strings.Repeat("caddy-1  | "+object+"\n", 10) + strings.Repeat("app-1    | hello\n", 30)
	if _, err := try(t, mixed, Options{}); err == nil || !strings.Contains(err.Error(), "--format caddy uses those") {
		t.Errorf("two services: got %v, want the format to be asked for", err)
	}
	if got := read(t, mixed, Options{Format: formatCaddy}).Facts(); got.Requests != 10 || got.BadLines != 30 {
		t.Errorf("two services: got %+v, want the 10 of Caddy", got)
	}
}

// TestALogOfAClockThatWasSetBackCouldNotBeRead: it was refused, as one in the wrong order is, with no way to say that the order is right.
func TestALogOfAClockThatWasSetBackCouldNotBeRead(t *testing.T) {
	log := timedLog(seconds(span{500, day}, span{500, 0}))
	if _, err := try(t, log, Options{}); err == nil {
		t.Fatal("got no error, want the times to be refused")
	}
	tr := read(t, log, Options{IgnoreTimes: true})
	if got := tr.Facts().Requests; got != 1000 || tr.HasTimes() || accesses(t, tr)[999].At != 0 {
		t.Errorf("got %d requests, HasTimes %v, want all without times", got, tr.HasTimes())
	}
}

// TestACutGzipFileGaveNothing: a copy that was interrupted, or the log of the running hour, was an error.
func TestACutGzipFileGaveNothing(t *testing.T) {
	var text strings.Builder
	for i := range 5000 {
		text.WriteString(time.Unix(int64(i), 0).UTC().Format("1 20060102T150405") + " 12345\n")
	}
	f := func(name string, packed []byte, least int64) {
		t.Helper()
		tr, err := Read(t.Context(), []string{write(t, name, packed)}, Options{Keys: true})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		defer closeTrace(t, tr)
		facts := tr.Facts()
		if facts.Requests < least || facts.Requests > 5000 || facts.BadLines > 0 || !slices.Equal(tr.Notes().Cut, []string{name}) {
			t.Errorf("%s: got %+v, cut %q; want %d requests at least, and no line that the cut made", name, facts, tr.Notes().Cut, least)
		}
		for _, o := range tr.Objects() {
			if o.Size != 12345 {
				t.Fatalf("%s: got a size of %d, which the cut made", name, o.Size)
			}
		}
	}
	whole := packGzip(t, text.String())
	f("trailer.gz", whole[:len(whole)-1], 5000)
	f("half.gz", whole[:len(whole)/2], 1000)
	for cut := 1; cut < 60; cut++ {
		f("some.gz", whole[:len(whole)-9-cut], 4000)
	}
	f("second.gz", append(slices.Clone(whole), whole[:15]...), 5000)
	packed := packZstd(t, text.String())
	f("half.zst", append(slices.Clone(packed), packed[:len(packed)/2]...), 5000)

	if tr := read(t, string(whole), Options{}); len(tr.Notes().Cut) > 0 {
		t.Errorf("whole: got %q cut", tr.Notes().Cut)
	}
}
