package template

import "testing"

// A place in the wrong place would let a client choose where others are sent.
func TestLocationsLeadWhereTheTextSays(t *testing.T) {
	f := func(text string, want error) {
		t.Helper()
		if _, err := ParseLocation(text); err != want { //nolint:errorlint // the very one
			t.Errorf("%q: got %v, want %v", text, err, want)
		}
	}
	for _, text := range []string{
		"https://{host}{uri}", "https://{hostport}{uri}", "https://{host}:8443{uri}", "{scheme}://www.{host}{path}", "http://a.example", "https://a.example?{query}",
		"https://a.example/x{uri}#y", "/", "/x", "/x{uri}", "https://[::1]/{query}",
	} {
		f(text, nil)
	}
	for _, text := range []string{
		"//a.example", "/{path}", "{uri}", "{path}", "https://{uri}", "https://a.example{query}", "https://{host}{query}", "https://a{scheme}b/", "ftp://a/", "https://",
		"javascript://a/", "https://u@a.example/", "a", "https://a#b", "{host}://a",
	} {
		f(text, errLocation)
	}
	for _, text := range []string{"/x{y}", "/{host", "/x}", "/x{}", "/x{host}}", "https://{HOST}/"} {
		f(text, errLocationPlace)
	}
	for _, text := range []string{"/a\r\nSet-Cookie: b", "/a b", "/ä", "/\x00", "/\\\\evil.example", "/\""} {
		f(text, errLocationBytes)
	}
}
