package purgedialect_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/proxy/internal/purgedialect"
)

// parse reads a request line without its version, and fields, for the host a.example.
func parse(line string, fields ...string) (purgedialect.Order, error) {
	method, target, _ := strings.Cut(line, " ")
	r := &purgedialect.Request{Method: method, Target: target, SameHost: func(host string) bool { return host == "a.example" || host == "a.example:80" }}
	for _, f := range fields {
		name, value, _ := strings.Cut(f, ":")
		r.Fields.Add(field.Canonical(name), strings.TrimSpace(value))
	}
	return purgedialect.Parse(r)
}

func TestAPurgeWasReadAsAnother(t *testing.T) {
	f := func(want purgedialect.Order, line string, fields ...string) {
		t.Helper()
		got, err := parse(line, fields...)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s %q: %v (-want +got):\n%s", line, fields, err, diff)
		}
	}
	all := purgedialect.Order{All: true}
	urls := func(all ...string) purgedialect.Order { return purgedialect.Order{URLs: all} }
	prefixes := func(all ...string) purgedialect.Order { return purgedialect.Order{Prefixes: all} }
	tags := func(all ...string) purgedialect.Order { return purgedialect.Order{Tags: all} }

	// The target as a URL.
	f(urls("/"), "PURGE /")
	f(urls("/a?b=[1]"), "PURGE /a?b=[1]")
	f(urls("/a(b)+c"), "PURGE /a(b)+c", "X-Purge-Method: default")
	f(urls("/.*"), "PURGE /.*", "X-Purge-Method: Exact")
	f(urls("/a"), "PURGE https://a.example/a")
	f(urls("/"), "PURGE https://a.example:80")
	f(urls("/a"), "PURGE /a", "X-Host: .*", "X-Control-Key: secret", "X-Datadog-Tags: _dd.p.dm=-1", "Cookie: a=b", "Accept: x", "X-Purge-Key: k")

	// The target as a pattern.
	f(all, "PURGE /.*")
	f(all, "PURGE /", "X-Purge-Method: regex")
	f(all, "BAN /.*")
	f(all, "BAN /")
	f(prefixes("/a"), "PURGE /a.*")
	f(prefixes("/a.b/"), "PURGE /a.b/.*", "X-Purge-Method: regex")
	f(prefixes("/a.b/"), `PURGE /a\.b/.*`, "X-Purge-Method: regex")
	f(prefixes("/a?x=1"), `BAN /a\?x=1.*`)
	f(prefixes("/a", "/b/"), "BAN /a.*|/b/")
	f(urls("/a"), "BAN ^/a$")
	f(prefixes("/a"), "PURGE https://a.example/a.*")
	f(all, "PURGE https://a.example/.*", "X-Purge-Method: regex")

	// Patterns for URLs in fields.
	f(all, "BAN /", "X-Url: .*", "X-Host: .*", "X-Content-Type: .*")
	f(all, "BAN /", "X-Url: ^.*$")
	f(all, "BAN /", "X-Url:")
	f(prefixes("/a/"), "BAN /", "X-Url: ^/a/.*", `X-Host: ^(a\.example)$`)
	f(prefixes("/a/"), "BAN /", `X-Url: ^https?:\/\/a\.example\/a\/`)
	f(prefixes("/a"), "BAN /", "X-Ban-Url: ^/a.*$", "X-Ban-Host: a.example")
	f(purgedialect.Order{URLs: []string{"/a", "/a/"}, Prefixes: []string{"/a?", "/a/?"}}, "PURGE /a", "X-Purge-Method: ban-regex", `X-Ban-Regex: ^/a($|/$|\?.*|/\?.*)`)
	f(urls("/", "/a"), "BAN /", "X-Url: ^http://a.example(/|/a)$")
	f(all, "BAN /", "X-Url: ^https?://a.example.*")
	f(prefixes("/a/"), "BAN /", `X-Url: ^a\.example/a/.*`)

	// Tags.
	f(tags("a", "b", "c"), "PURGE /", "xkey-purge: a  b,c")
	f(purgedialect.Order{SoftTags: []string{"a", "b"}}, "PURGEKEYS /", "xkey-softpurge: a b")
	f(purgedialect.Order{Tags: []string{"a"}, SoftTags: []string{"b"}}, "PURGEKEYS /", "xkey-purge: a", "xkey-softpurge: b")
	f(tags("a", "b|c"), "PURGE /", "Surrogate-Key: a b|c")
	f(purgedialect.Order{Tags: []string{"a"}, Soft: true}, "PURGE /", "Surrogate-Key: a", "Fastly-Soft-Purge: 1")
	f(tags("a b", "c"), "PURGE /", "Cache-Tag: a b, c")
	f(tags("a", "b"), "PURGE /", "x-amz-meta-cache-tag: a,b")
	f(tags("a", "b"), "PURGETAGS /", "X-Cache-Tags: a,b")
	f(tags("a", "b"), "BAN /tags", "Cache-Tags: a b")
	f(tags("a", "b"), "BAN /", "Cache-Tags: a|b", "Cache-Tags: b")
	f(tags("config:user.role.a", "node_list:x"), "BAN /", "Purge-Cache-Tags: config:user.role.a|node_list:x")
	f(tags("a-1", "b"), "BAN /", `X-Cache-Tags: (^|,)(a\-1|b)(,|$)`, "X-Host: .*", "X-Url: .*", "X-Content-Type: .*")
	f(tags("a", "b"), "BAN /", "X-Cache-Tags: (a|b)(,.+)?$")
	f(tags("cat_p_1", "cat_p_2"), "PURGE /", "X-Magento-Tags-Pattern: ((^|,)cat_p_1(,|$))|((^|,)cat_p_2(,|$))")
	f(all, "PURGE /", "X-Magento-Tags-Pattern: .*")
	f(tags("/a", "/b"), "BAN /", `ApiPlatform-Ban-Regex: ((^|\,)/a($|\,))|((^|\,)/b($|\,))`)
	f(tags("p-1", "home"), "PURGE /", "X-Purge-Method: tags", "X-Cache-Tags-Pattern: p-1|home")
	f(tags("p-1"), "PURGE /", "X-Purge-Method: tags", `X-Cache-Tags-Pattern: \bp-1\b`)
	f(tags("a"), "BAN /", `Cache-Tags: (^|\s)a(\s|$)`)
	f(purgedialect.Order{Tags: []string{"a"}, URLs: []string{"/x"}}, "PURGE /x", "Surrogate-Key: a")
	f(purgedialect.Order{SoftTags: []string{"a"}, URLs: []string{"/x"}, Soft: true}, "PURGE /x", "xkey-softpurge: a")

	// The rest.
	f(all, "PURGE /", "Clear-Cache: true")
	f(purgedialect.Order{URLs: []string{"/a"}, Soft: true}, "PURGE /a", "Fastly-Soft-Purge: 1")
	f(urls("/a"), "PURGE /a", "Fastly-Soft-Purge: 0")
	f(prefixes("/a"), "BAN /", "X-Ban-Expression: req.http.host == a.example && req.url ~ ^/a")
	f(urls("/a"), "BAN /", `X-Ban-Expression: obj.http.x-url == "/a"`)
	f(all, "BAN /", `X-Ban-Expression: obj.http.x-host ~ ^a\.example$`)
	f(tags("a"), "BAN /", "X-Ban-Expression: obj.http.Surrogate-Key ~ a")
}

func TestAPurgeThatIsNotUnderstoodWasAccepted(t *testing.T) {
	f := func(part, says, line string, fields ...string) {
		t.Helper()
		got, err := parse(line, fields...)
		e, ok := errors.AsType[*purgedialect.Error](err)
		if !ok || e.Part != part || !strings.Contains(err.Error(), says) || got.All || got.URLs != nil || got.Prefixes != nil || got.Tags != nil {
			t.Errorf("%s %q: got %v and %v, want an error about %s that says %q", line, fields, got, err, part, says)
		}
	}

	f("method", "must be PURGE", "URLPURGE /a")
	f("method", "xkey-purge", "PURGEKEYS /")
	f("method", "xkey-purge", "PURGETAGS /a")
	f("target", "exact", "PURGE /a.*b")
	f("target", "exact", "PURGE /a/*")
	f("target", "exact", "PURGE *")
	f("target", "exact", `PURGE /a\.b`)
	f("target", "exact", "PURGE ^/a$")
	f("target", `"[" at 2`, "PURGE /[a-z].*")
	f("target", `"?" at 3`, "PURGE /a?b.*")
	f("target", `"+" at 3`, "BAN /a+")
	f("target", `"\\d"`, `BAN /a\d`)
	f("target", `"\\\\"`, `BAN /a\\b`)
	f("target", `"(" at 2 has no end`, "BAN /(a|b")
	f("target", `")" at 3`, "BAN /a)")
	f("target", ".* within it", "BAN /.*blog.*")
	f("target", ".* within it", "BAN .*/blog")
	f("target", "^ within it", "BAN /a^b")
	f("target", "begin with /", "BAN blog")
	f("X-Url", "begin with /", "BAN /", "X-Url: ^b.example/a/.*")
	f("X-Url", "begin with /", "BAN /", "X-Url: ^a.example")
	f("target", "must be .*, or the host", "PURGE https://b.example/a")
	f("target", "not the host", "PURGE https://b.example/.*")
	f("target", "within each other", "BAN "+strings.Repeat("(", 20)+"/a"+strings.Repeat(")", 20))
	f("target", "alternatives", "BAN /"+strings.Repeat("(a|b)", 20))
	f("target", "needs / beside Surrogate-Key", "PURGE /.*", "Surrogate-Key: a")
	f("X-Url", "needs the method BAN", "PURGE /", "X-Url: /a")
	f("X-Url", "not the host", "BAN /", "X-Url: ^https?://b.example/.*")
	f("X-Url", "needs .* beside", "BAN /", "X-Url: ^/a", "X-Cache-Tags: a")
	f("X-Url", "once", "BAN /", "X-Url: /a", "X-Url: /b")
	f("X-Ban-Url", "once", "BAN /", "X-Url: /a", "X-Ban-Url: /a")
	f("X-Host", "reaches no other", "BAN /", "X-Url: /a", "X-Host: b.example")
	f("X-Host", "reaches no other", "PURGE /", "X-Host: a.example.*")
	f("X-Host", "not understood", "BAN /", "X-Host: [ab].example")
	f("X-Host", "reaches no other", "BAN /", `X-Host: ^(a\.example|b\.example)$`)
	f("X-Content-Type", "must be .*", "BAN /", "X-Content-Type: text/html")
	f("Cookie", "must be none", "BAN /", "Cookie: a=b")
	f("X-Cache-Tags", "must be tags", "BAN /", "X-Cache-Tags: ")
	f("X-Cache-Tags", `.* behind "a"`, "BAN /", "X-Cache-Tags: a.*")
	f("X-Cache-Tags", "not understood", "BAN /", "X-Cache-Tags: a[0-9]")
	f("Surrogate-Key", "must be tags", "PURGE /", "Surrogate-Key: ")
	f("Cache-Tag", "must be tags", "PURGE /", "Cache-Tag: ,,")
	f("X-Purge-Method", "must be regex", "PURGE /", "X-Purge-Method: all")
	f("X-Purge-Method", "needs a field with tags", "PURGE /", "X-Purge-Method: tags")
	f("X-Purge-Method", "needs X-Ban-Regex", "PURGE /", "X-Purge-Method: ban-regex")
	f("X-Purge-Method", "without another field", "PURGE /", "X-Purge-Method: regex", "xkey-purge: a")
	f("Fastly-Soft-Purge", "must be 1", "PURGE /", "Fastly-Soft-Purge: yes")
	f("Fastly-Soft-Purge", "xkey-softpurge", "PURGE /", "Fastly-Soft-Purge: 1", "xkey-purge: a")
	f("Clear-Cache", "must be true", "PURGE /", "Clear-Cache: maybe")
	f("Clear-Cache", "without Surrogate-Key", "PURGE /", "Clear-Cache: 1", "Surrogate-Key: a")
	f("X-Ban-Expression", "without Cache-Tags", "BAN /", "Cache-Tags: a", "X-Ban-Expression: req.url ~ /a")
	f("X-Ban-Expression", "must be req.url", "BAN /", "X-Ban-Expression: obj.status == 404")
	f("X-Ban-Expression", "must be req.url", "BAN /", "X-Ban-Expression: req.url !~ /a")
	f("X-Ban-Expression", "must be req.url", "BAN /", "X-Ban-Expression: req.url ~ /a || req.url ~ /b")
	f("X-Ban-Expression", "must be req.url", "BAN /", "X-Ban-Expression: obj.http.Surrogate-Key == a")
	f("X-Ban-Expression", "one condition", "BAN /", "X-Ban-Expression: req.url ~ /a && obj.http.xkey ~ a")
	f("X-Ban-Expression", "reaches no other", "BAN /", "X-Ban-Expression: req.http.host == b.example")
	f("X-Ban-Expression", "needs the method BAN", "PURGE /", "X-Ban-Expression: req.url ~ /a")
	for _, name := range []string{"X-Pool", "X-Location-Id", "Key", "X-Purge-Prefix", "X-Shopware-Invalidates", "X-My-Tags", "Purge_Url", "X-Ban", "X-Url-Pattern", "Xkey-Other"} {
		f(field.Canonical(name), "not understood", "PURGE /", name+": a")
	}
}

func TestAPurgeWithContentWasAccepted(t *testing.T) {
	_, err := purgedialect.Parse(&purgedialect.Request{Method: "PURGE", Target: "/", HasContent: true})
	if e, ok := errors.AsType[*purgedialect.Error](err); !ok || e.Part != "content" {
		t.Errorf("got %v, want an error about the content", err)
	}
}

func TestAMethodOfAPurgeWentToTheOrigin(t *testing.T) {
	for method, want := range map[string]bool{
		"PURGE": true, "BAN": true, "PURGEKEYS": true, "PURGETAGS": true, "SOFTPURGE": true, "URIBAN": true,
		"POST": false, "PUT": false, "BIND": false, "REBIND": false, "REPORT": false, "QUERY": false, "BASELINE-CONTROL": false,
	} {
		if got := purgedialect.IsPurge(method); got != want {
			t.Errorf("%s: got %v, want %v", method, got, want)
		}
	}
}
