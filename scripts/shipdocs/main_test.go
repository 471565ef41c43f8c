package main

import (
	"os"
	"path/filepath"
	"testing"
)

// The README of a release linked to pages that were not in it.
func TestLinksToWhatAReleaseLacksBecomeText(t *testing.T) {
	shipped := map[string]bool{"docs/a.md": true, "docs/operating/run.md": true, "docs": true}
	for _, c := range []struct{ name, text, want string }{
		{"README.md", "[a](docs/a.md#one) and [docs](docs/)", "[a](docs/a.md#one) and [docs](docs/)"},
		{"README.md", "see [loadtest/](loadtest/).", "see loadtest/."},
		{"docs/operating/run.md", "[up](../a.md), [the\nrooms](../../internal/x.go#L1)", "[up](../a.md), the\nrooms (internal/x.go in the source)"},
		{"docs/a.md", "[here](#there) [web](https://example.com/x)", "[here](#there) [web](https://example.com/x)"},
		{"docs/a.md", "![a [b] c](../b.png)\n", "a [b] c (b.png in the source)\n"},
		{"docs/a.md", "```\n[x](gone.md)\n```\n[x](gone.md)", "```\n[x](gone.md)\n```\nx (docs/gone.md in the source)"},
	} {
		if got := fitted(c.text, c.name, func(target string) bool { return shipped[target] }); got != c.want {
			t.Errorf("%s: %q: got %q, want %q", c.name, c.text, got, c.want)
		}
	}
}

func TestDocumentsOfAFolderAreFitted(t *testing.T) {
	dir := t.TempDir()
	page := filepath.Join(dir, "docs", "a.md")
	if err := os.Mkdir(filepath.Dir(page), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(page, []byte("[a](a.md) [b](../b.md)"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := ship(dir); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(page); err != nil || string(got) != "[a](a.md) b (b.md in the source)" {
		t.Errorf("got %q, %v", got, err)
	}
	if err := ship(filepath.Join(dir, "gone")); err == nil {
		t.Error("a folder that is not there is no error")
	}
}
