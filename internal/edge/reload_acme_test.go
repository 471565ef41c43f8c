package edge

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"edgeproxy/config"
)

// TestReloadLeavesNoNameWithoutACertificate: tls.acme orders none for a name that a file has
// one for at the start, so the file has to stay. Where files had them all, handshakes
// would have found nothing at all.
func TestReloadLeavesNoNameWithoutACertificate(t *testing.T) {
	certificate, key := certificateFiles(t) // a pair for www.example.com
	storage := filepath.Join(t.TempDir(), "acme")
	file := func(names, files string) string {
		return fmt.Sprintf(`
listen: [{address: "127.0.0.1:0", tls: true}]
admin: {address: "127.0.0.1:0"}
tls: {acme: {names: [%s], accept_terms: true, directory: "https://127.0.0.1:1/dir", storage: %q}%s}
origins: {app: {servers: ["http://127.0.0.1:9"]}}
`, names, storage, files)
	}
	own := fmt.Sprintf(", certificates: [{certificate: %q, key: %q}]", certificate, key)
	for _, names := range []string{"www.example.com", "www.example.com, other.example"} {
		t.Run(names, func(t *testing.T) {
			from := &Source{File: writeFile(t, "edge.yaml", file(names, own))}
			c, err := from.Load()
			if err != nil {
				t.Fatal(err)
			}
			e := built(t, c, Options{Source: from})
			if err := e.Listen(); err != nil {
				t.Fatal(err)
			}
			renameOver(t, from.File, file(names, ""))
			_, err = e.reloader.reload("test")
			if _, ok := errors.AsType[config.Errors](err); !ok || !strings.Contains(err.Error(), "tls.certificates: needs a certificate for www.example.com, or a restart") {
				t.Errorf("without the file: got %v, want it refused", err)
			}
			if files := e.fileCertificates(); files == nil || files.Find("www.example.com") == nil {
				t.Error("the refused file has taken the certificate away")
			}
			// Names are decided at the start: they are named, and nothing of them is applied.
			renameOver(t, from.File, file(names+", new.example", own))
			a, err := e.reloader.reload("test")
			if err != nil || len(a.Changed) != 0 || !slices.ContainsFunc(a.Restart, func(c Change) bool { return c.Path == "tls.acme.names" }) {
				t.Errorf("another name: got %+v, %v, want tls.acme.names to need a restart", a, err)
			}
			if e.acme != nil && e.acme.Manages("new.example") {
				t.Error("another name: got it managed already")
			}
		})
	}
}
