package template

import (
	"strings"
	"testing"
)

func TestTemplateOfAField(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		tpl, err := Parse(text, OfURL)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			return
		}
		u := URL{Scheme: "https", Host: []byte("[::1]:8443"), Target: []byte("/a{b}?c=%20")}
		if got := string(tpl.Append(nil, u, nil)); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	f("", "")
	f("plain", "plain")
	f("{{}}", "{}")
	f(`{{"a":"{scheme}"}}`, `{"a":"https"}`)
	f("{host} {hostport} {port}", "[::1] [::1]:8443 8443")
	f("{uri} {path} {query}", "/a%7Bb%7D?c=%20 /a%7Bb%7D c=%20")
	f("{{{path}}}", "{/a%7Bb%7D}")
}

func TestTemplateSaysWhatIsWanted(t *testing.T) {
	f := func(allowed Placeholders, text, want string) {
		t.Helper()
		if _, err := Parse(text, allowed); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q in it", text, err, want)
		}
	}
	for _, text := range []string{"{", "}", "a}b", "{host", "{host}}", "{{}", "{{{host}}"} {
		f(All, text, "there is a single")
	}
	for _, text := range []string{"{}", "{Host}", "{host }", "{result}", "{a{host}"} {
		f(All, text, "scheme, host, hostport, port, path, query, uri, client, request_id in braces")
	}
	f(OfURL, "{client}", "all clients would get the value of one")
	f(OfURL, "a {request_id}", "all clients would get the value of one")
	f(OfURL, "{result}", "uri in braces")
}
