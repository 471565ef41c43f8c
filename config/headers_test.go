package config

import (
	"fmt"
	"strings"
	"testing"
)

func TestRulesForFieldsAreCheckedByPlace(t *testing.T) {
	f := func(name, rules string, want ...string) {
		t.Helper()
		got := problems("origins: {app: {servers: [\"http://h\"]}}\nroutes:\n- name: a\n  origin: app\n" + rules)
		if w := strings.Join(want, "\n"); got != w {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, w)
		}
	}
	const (
		token = "must be the name of a field, or how it begins and *, up to 128 bytes"
		free  = "must be another field: this one is framing, belongs to a connection, or is written or evaluated here"
		value = "must be a value of 1 to 4096 bytes, without control characters or white space around it; remove takes a field away"
	)
	f("good", "  headers: {request: {remove: [x-a, \"X-B*\", Accept-Encoding], set: {X-Forwarded-Prefix: /x}}, response: {remove: [Set-Cookie, ETag], set: {Vary: Accept}}}\n")
	for _, name := range []string{"Host", "content-length", "Te", "Connection", "Via", "X-Forwarded-For", "Forwarded", "Range", "If-Match", "If-None-Match", "Upgrade", "Cdn-Loop", "Content_Length"} {
		f(name, "  headers: {request: {remove: ["+name+"]}}\n", "e.yaml:5:32: routes[0].headers.request.remove[0]: "+name+": "+free)
	}
	for _, name := range []string{"Content-Length", "transfer-encoding", "Content-Range", "Content-Encoding", "Trailer", "Age", "Date", "Via", "Cache-Status", "Connection"} {
		f(name, "  headers: {response: {set: {"+name+": x}}}\n",
			fmt.Sprintf("e.yaml:5:%d: routes[0].headers.response.set.%s: x: %s", len("  headers: {response: {set: {")+len(name)+3, name, free))
	}
	for _, name := range []string{
		"Content-Length", "transfer-encoding", "Connection", "Keep-Alive", "Trailer", "Upgrade", "Content-Encoding", "Content-Range", "Date", "Via", "Age", "Cache-Status", "Proxy-Authenticate",
	} {
		f(name, "  headers: {generated: {set: {"+name+": x}}}\n", fmt.Sprintf("e.yaml:5:%d: routes[0].headers.generated.set.%s: x: %s", len("  headers: {generated: {set: {")+len(name)+3, name, free))
	}
	for _, name := range []string{"Allow", "location", "Retry-After", "WWW-Authenticate", "Www_Authenticate"} {
		f(name, "  headers: {generated: {set: {"+name+": x}}}\n", fmt.Sprintf("e.yaml:5:%d: routes[0].headers.generated.set.%s: x: must be another field: this one depends on the status, and edgeproxy sets it itself",
			len("  headers: {generated: {set: {")+len(name)+3, name))
	}
	for _, name := range []string{"Content-Type", "content-language", "ETag", "Last-Modified", "Accept-Ranges", "Content-Disposition", "Surrogate-Key", "Cache-Tag", "Content-Digest"} {
		f(name, "  headers: {generated: {set: {"+name+": x}}}\n", fmt.Sprintf(
			"e.yaml:5:%d: routes[0].headers.generated.set.%s: x: must be another field: this one describes the content of one response; for the response of a route use respond.headers",
			len("  headers: {generated: {set: {")+len(name)+3, name))
	}
	f("good for our own", "  headers: {generated: {set: {strict-transport-security: max-age=1, Content-Security-Policy: \"default-src 'self'\", Access-Control-Allow-Origin: \"*\", Cache-Control: max-age=9, Vary: Origin, Set-Cookie: a=b}}}\n")
	f("no value of our own", "  headers: {generated: {set: {X-A: \"\"}}}\n", `e.yaml:5:36: routes[0].headers.generated.set.X-A: "": `+value)
	f("twice of our own", "  headers: {generated: {set: {X-A: a, x-a: b}}}\n", `e.yaml:5:44: routes[0].headers.generated.set.x-a: b: must be listed once, whatever its case`)
	f("a bare star", "  headers: {request: {remove: [\"*\"]}}\n", "e.yaml:5:32: routes[0].headers.request.remove[0]: *: "+token)
	f("no value", "  headers: {request: {set: {X-A: \"\"}}}\n", `e.yaml:5:34: routes[0].headers.request.set.X-A: "": `+value)
	f("the only fields", "  headers: {request: {only: [Accept*, \"*\"]}}\n  cache: {key: {headers: [X-Lang]}}\n")
	f("fields that are not removed anyway", "  headers: {request: {only: [Accept, Host, \"a b\"]}}\n",
		"e.yaml:5:38: routes[0].headers.request.only[1]: Host: "+free, "e.yaml:5:44: routes[0].headers.request.only[2]: a b: "+token)
	f("what selects and is not let through", "  headers: {request: {only: [Accept]}}\n  cache: {key: {headers: [X-Lang], cookies: [id]}}\n",
		"e.yaml:5:13: routes[0].headers.request: needs Cookie let through by the rules: cache.key.cookies uses it",
		"e.yaml:5:13: routes[0].headers.request: needs X-Lang let through by the rules: cache.key.headers uses it")
	f("cookies that select", "  headers: {request: {remove: [Cookie]}}\n  cache: {key: {cookies: [id]}}\n",
		"e.yaml:5:13: routes[0].headers.request: must have no rule for Cookie: cache.key.cookies uses it")
	f("what selects", "  headers: {request: {remove: [\"X-*\"]}}\n  cache: {key: {headers: [X-Lang]}}\n",
		"e.yaml:5:13: routes[0].headers.request: must have no rule for X-Lang: cache.key.headers uses it")
}

// What a route goes by has to be what the client sent.
func TestRoutesGoByFieldsOfClients(t *testing.T) {
	for _, name := range []string{"Host", "content-length", "Te", "Connection", "Via", "X-Forwarded-For", "Forwarded", "Range", "If-Match", "Content_Length"} {
		got := problems("origins: {app: {servers: [\"http://h\"]}}\nroutes:\n- name: a\n  origin: app\n  match: {headers: {" + name + ": x}}\n")
		want := fmt.Sprintf("e.yaml:5:%d: routes[0].match.headers.%s: x: must be a field that reaches the origin as the client sent it", len("  match: {headers: {")+len(name)+3, name)
		if got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
	if got := problems("origins: {app: {servers: [\"http://h\"]}}\nroutes:\n- name: a\n  origin: app\n  match: {headers: {X-Beta: x, Cookie: \"*beta=1*\", Accept: image/*}}\n"); got != "" {
		t.Errorf("got %s, want none", got)
	}
}
