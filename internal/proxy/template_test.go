package proxy

import (
	"strings"
	"testing"
)

func TestTemplateOfAField(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		tpl, err := parseTemplate(text, keyedPlaces)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			return
		}
		s := subject{scheme: "https", host: []byte("[::1]:8443"), target: []byte("/a{b}?c=%20")}
		if got := string(tpl.append(nil, s)); got != want {
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
	f := func(places []string, text, want string) {
		t.Helper()
		if _, err := parseTemplate(text, places); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q in it", text, err, want)
		}
	}
	for _, text := range []string{"{", "}", "a}b", "{host", "{host}}", "{{}", "{{{host}}"} {
		f(allPlaces, text, "there is a single")
	}
	for _, text := range []string{"{}", "{Host}", "{host }", "{result}", "{a{host}"} {
		f(allPlaces, text, "scheme, host, hostport, port, path, query, uri, client, request_id in braces")
	}
	f(keyedPlaces, "{client}", "all clients would get the value of one")
	f(keyedPlaces, "a {request_id}", "all clients would get the value of one")
	f(keyedPlaces, "{result}", "uri in braces")
}

func TestIDsOfTrustedProxiesAreVisible(t *testing.T) {
	for id, want := range map[string]bool{
		"": false, "a": true, "a b": false, "a\tb": false, "\x7f": false, "é": false, "~!\"": true,
		strings.Repeat("x", mostIDBytes): true, strings.Repeat("x", mostIDBytes+1): false,
	} {
		if got := soundID([]byte(id)); got != want {
			t.Errorf("%q: got %v, want %v", id, got, want)
		}
	}
}
