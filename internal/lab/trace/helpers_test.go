package trace

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// read reads text as a log with its keys.
func read(t testing.TB, text string, o Options) *Trace {
	t.Helper()
	tr, err := try(t, text, o)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func try(t testing.TB, text string, o Options) (*Trace, error) {
	t.Helper()
	o.Input, o.Keys = strings.NewReader(text), true
	tr, err := Read(t.Context(), []string{"-"}, o)
	if err == nil {
		t.Cleanup(func() { closeTrace(t, tr) })
	}
	return tr, err
}

func closeTrace(t testing.TB, tr *Trace) {
	t.Helper()
	if err := tr.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// accesses returns all requests.
func accesses(t testing.TB, tr *Trace) (all []Access) {
	t.Helper()
	err := tr.Each(t.Context(), func(batch []Access) error {
		all = append(all, batch...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// plain is a trace in words: "host target size" for each request.
func plain(t testing.TB, tr *Trace) (out []string) {
	t.Helper()
	for _, a := range accesses(t, tr) {
		host, target := tr.Key(a.Object)
		out = append(out, strings.TrimSpace(host+" "+target+" "+strconv.FormatInt(tr.Objects()[a.Object].Size, 10)))
	}
	return out
}

// write puts data into a file of its own and returns its path.
func write(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// sharedTrace returns the path of one of the real traces, and skips the test where
// they are not: they are no part of the project.
func sharedTrace(t testing.TB, name string) (path string) {
	t.Helper()
	return testkit.Trace(t, name)
}

// combinedLines is a log of n requests for URLs of ten kinds, one a second.
func combinedLines(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		b.WriteString(`203.0.113.7 - - [17/May/2015:10:`)
		second := i % 3600
		b.WriteString(strconv.Itoa(second/600) + strconv.Itoa(second/60%10) + ":" + strconv.Itoa(second%60/10) + strconv.Itoa(second%10))
		b.WriteString(` +0000] "GET /images/articles/2015/picture-` + strconv.Itoa(i%10) + `.png?width=640 HTTP/1.1" 200 `)
		b.WriteString(strconv.Itoa(1000 + i%10))
		b.WriteString(` "https://www.example.org/articles/2015/05/a-title-of-some-length.html" "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36"` + "\n")
	}
	return b.Bytes()
}
