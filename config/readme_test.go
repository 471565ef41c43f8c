package config

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// notYetKeys returns the paths of the keys below t that are not supported yet.
func notYetKeys(t table, path string) (out []string) {
	for _, s := range t {
		at := child(path, s.name)
		switch v := s.value.(type) {
		case unsupported:
			out = append(out, at)
		case *group:
			out = append(out, notYetKeys(v.settings(), at)...)
		case *originSections:
			out = append(out, notYetKeys(v.sample(), at+".*")...)
		case collection:
			out = append(out, notYetKeys(v.sample(), at+"[]")...)
		}
	}
	return out
}

// The README listed the dashboard as missing when it was there, and not what was missing.
func TestTheREADMEListedWhatIsThereAsMissing(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\nRefused as \"not supported yet\": ")
	section, _, _ = strings.Cut(section, "\n")
	var got []string
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(section, -1) {
		got = append(got, m[1])
	}
	want := []string{"*"} // which is a value
	for _, key := range notYetKeys(new(Config).table(), "") {
		want = append(want, strings.TrimPrefix(key, "routes[]."))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got %q in the README, want %q", got, want)
	}
	_, err = Parse("edge.yaml", []byte("listen: [{address: \":443\", tls: true}]\norigins: {app: {servers: [\"http://h\"]}}\ntls: {acme: {names: [\"*.example.com\"], email: a@example.com, storage: /s}}\n"))
	if err == nil || !strings.Contains(err.Error(), notYet) {
		t.Errorf("a wildcard: got %v, want %q", err, notYet)
	}
}
