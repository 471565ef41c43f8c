package config

import (
	"strings"
	"testing"
)

// TestAStarInAPathIsWarnedOf: it was accepted without a word, and the route matched nothing.
func TestAStarInAPathIsWarnedOf(t *testing.T) {
	const head = "origins: {app: {servers: [\"http://127.0.0.1:9\"]}}\nroutes: [{name: a, origin: app, match: {"
	for text, want := range map[string]string{
		`path: "/a/*"`:           "routes[0].match.path",
		`path_prefix: "/a*"`:     "routes[0].match.path_prefix",
		`path_suffix: "*.jpg"`:   "routes[0].match.path_suffix",
		`path_suffix: .jpg`:      "",
		`hosts: ["*.a.example"]`: "",
	} {
		c, err := Parse("edge.yaml", []byte(head+text+"}}]\n"))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		var got []string
		for _, w := range c.Warnings() {
			got = append(got, w.Path)
			if !strings.Contains(w.Text, "ordinary character") {
				t.Errorf("%s: got %q", text, w)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got warnings of %q, want %q", text, got, want)
		}
	}
}
