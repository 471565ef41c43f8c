package edge

import (
	"fmt"
	"strings"
	"testing"

	"edgeproxy/config"
)

// problems returns what Validate finds wrong with the text of a configuration, called e.yaml; ""
// is nothing.
func problems(t *testing.T, text string) string {
	t.Helper()
	c, err := config.Parse("e.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if err := Validate(c); err != nil {
		return err.Error()
	}
	return ""
}

func TestOriginFilesAreCheckedByPlace(t *testing.T) {
	certificate, key := certificateFiles(t)
	empty := writeFile(t, "empty", "")
	f := func(settings string, want ...string) {
		t.Helper()
		got := problems(t, "origins:\n app:\n  servers: [\"https://h\"]\n  tls: {"+settings+"}\n")
		if len(want) == 0 && got != "" || len(want) > 0 && len(strings.Split(got, "\n")) != len(want) {
			t.Errorf("%s: got\n%s\nwant %d problems", settings, got, len(want))
		}
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: got\n%s\nwant %q in it", settings, got, w)
			}
		}
	}
	f(fmt.Sprintf("ca: %q, certificate: %q, key: %q", certificate, certificate, key))
	f("ca: none.pem", "e.yaml:4:13: origins.app.tls.ca: none.pem: must be a file in PEM: no such file or directory")
	f(fmt.Sprintf("ca: %q", key), "must be a file with certificates in PEM: there is none in it")
	f("certificate: none.pem, key: none.key",
		"e.yaml:4:22: origins.app.tls.certificate: none.pem: must be a file in PEM: no such file",
		"e.yaml:4:37: origins.app.tls.key: none.key: must be a file in PEM: no such file")
	f(fmt.Sprintf("certificate: %q, key: %q", certificate, empty),
		"must be a file in PEM whose first certificate belongs to the key")
}
