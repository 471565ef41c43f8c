package config

import (
	"os"
	"path/filepath"
	"testing"
)

// What is at fault already is not reported again, nor is what lies within it. All else is, in the file's order.
func TestCheckReportsFurtherFaultsOfSettingsThatAreRight(t *testing.T) {
	file := filepath.Join(t.TempDir(), "e.yaml")
	f := func(text, want string, faults ...string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Check(file, func(c *Config) (out Errors) {
			for _, path := range faults {
				out = append(out, c.Fault(path, "must be a file"))
			}
			return out
		})
		var paths string
		if err != nil {
			for _, e := range err.(Errors) { //nolint:errorlint // it is documented to be one
				paths += e.Path + " "
			}
		}
		if paths != want || (c == nil) != (err != nil) {
			t.Errorf("%s: got %q and %v, want %q", text, paths, c != nil, want)
		}
	}
	const origins = "origins: {app: {servers: [\"http://h\"]}}\n"
	f(origins, "")
	f(origins+"access_log: {path: /a}\n", "access_log.path access_log.path ", "access_log.path", "access_log.path")
	f(origins+"access_log: {path: /a, format: xml}\nnode: {name: 1}\nlimits: {spool_path: /b}\n", "access_log.path access_log.format node.name limits.spool_path ",
		"limits.spool_path", "node.name", "access_log.path", "access_log.format")
	f("origins: {app: {servers: [\"http://h\"], tls: {ca: /a}}}\n", "origins.app.tls ", "origins.app.tls.ca") // the section has to go
	f(origins+"access_log: [/a]\n", "access_log ", "access_log.path")
}
