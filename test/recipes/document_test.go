package recipes

import (
	"net"
	"os"
	"regexp"
	"strings"
	"testing"
)

// The documents with the configurations.
const (
	moving  = "../../docs/moving.md"
	recipes = "../../docs/recipes.md"

	conformance = "../../docs/conformance.md" // tables of comparisons
)

// What the document's files say in place of a test's own.
const (
	originThere  = "127.0.0.1:3000"
	listenOurs   = `":8080"`
	listenNginx  = "listen 8080;"
	folderNginx  = "/var/cache/nginx"
	folderOurs   = "/var/cache/edgeproxy"
	sizeNginx    = "max_size=10g"
	sizeOurs     = "10GiB"
	alwaysPolicy = "admission:\n  policy: always\n"
)

// block returns what stands in a document between <!-- NAME --> and <!-- /NAME -->, without the
// fence around it, with each old text replaced by the new one behind it. All of them have to be there.
func block(t *testing.T, document, name string, oldNew ...string) string {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?s)<!-- ` + name + ` -->\n` + "```[a-z]*\n(.*?)```\n" + `<!-- /` + name + ` -->`).FindSubmatch(text)
	if found == nil {
		t.Fatalf("%s has no block %q", document, name)
	}
	for i := 0; i < len(oldNew); i += 2 {
		if !strings.Contains(string(found[1]), oldNew[i]) {
			t.Fatalf("block %q lacks %q", name, oldNew[i])
		}
	}
	return strings.NewReplacer(oldNew...).Replace(string(found[1]))
}

// openFolder returns a folder that is removed at the end of the test, and in which a program may write that becomes another user.
func openFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "edgeproxy-peer-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}

// portOf returns the port of an address.
func portOf(t *testing.T, address string) string {
	t.Helper()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	return port
}
