package trace

import (
	"fmt"
	"strings"
	"testing"
)

// FuzzProxies: the same request in the formats of several proxies is the same request.
func FuzzProxies(f *testing.F) {
	f.Add("/a?q=1", "www.example.org", "10900", "200", "GET")
	f.Add("/", "SHOP.example.org", "0", "304", "HEAD")
	f.Add("/a/b", "h.example", "x", "404", "POST")
	f.Add("//[{|]}", "h.example", "99999999999999999999", "200", "GET")
	f.Fuzz(func(t *testing.T, target, host, sent, status, method string) {
		for _, s := range []string{target, host, sent, status, method} {
			if s == "" || strings.ContainsAny(s, "\" \t\r\n\\") || strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) >= 0 {
				return
			}
		}
		if target[0] != '/' || !isHost([]byte(host)) || strings.ContainsAny(host, ":_") || !strings.Contains(host, ".") ||
			strings.HasPrefix(host, ".") || strings.HasSuffix(host, ".") || isAddress([]byte(host)) || sent[0] == '+' || sent == "-" {
			return
		}
		want, wantVerdict := request{}, bad
		for i, p := range []struct {
			newParser func() parser
			line      string
		}{
			{newEnvoy, fmt.Sprintf(`[2024-06-01T10:00:00Z] "%s %s HTTP/2" %s - 0 %s 12 11 "-" "-" "-" "%s" "-"`, method, target, status, sent, host)},
			{newEnvoy, fmt.Sprintf(`[2024-06-01T10:00:00Z] "%s %s HTTP/2" %s - via_upstream - "-" 0 %s 12 - "-" "-" "-" "%s" "-" a b`, method, target, status, sent, host)},
			{newHAProxy, fmt.Sprintf(`192.0.2.1:1 [01/Jun/2024:10:00:00.000] web app/s1 0/0/0/1/1 %s %s - - ---- 1/1/1/1/0 0/0 {%s} "%s %s HTTP/1.1"`,
				status, sent, host, method, target)},
			{newALB, fmt.Sprintf(`http 2024-06-01T10:00:00Z app/web/1 192.0.2.1:1 10.0.0.1:80 0.0 0.0 0.0 %s 200 34 %s "%s http://%s:80%s HTTP/1.1" "-"`,
				status, sent, method, host, target)},
			{newCombined, fmt.Sprintf(`%s:443 192.0.2.1 - - [01/Jun/2024:10:00:00 +0000] "%s %s HTTP/1.1" %s %s "-" "-"`, host, method, target, status, sent)},
		} {
			var got request
			v := p.newParser()([]byte(p.line), &got)
			if v != used {
				got = request{} // it means nothing then
			}
			if i == 0 {
				want, wantVerdict = got, v
				continue
			}
			// A status of other than three digits is no request without a response to all of them.
			if len(status) == 3 && v != wantVerdict {
				t.Errorf("%s: got verdict %d, want %d as of Envoy", p.line, v, wantVerdict)
			}
			if v == used && wantVerdict == used && (string(got.host) != string(want.host) || string(got.target) != string(want.target) ||
				got.size != want.size || got.at != want.at || got.head != want.head) {
				t.Errorf("%s: got %q %q %d, want %q %q %d as of Envoy", p.line, got.host, got.target, got.size, want.host, want.target, want.size)
			}
		}
	})
}
