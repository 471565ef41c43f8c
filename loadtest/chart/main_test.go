package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const report = `{"results": [
 {"policy": "always", "writes": 4000, "hit_ratio": 0.352},
 {"policy": "second-hit", "writes": 1000, "hit_ratio": 0.36},
 {"policy": "nginx-min-uses-2", "writes": 5000, "hit_ratio": 0.28}]}`

// reportFile returns a new file with text.
func reportFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "report.json")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestChart(t *testing.T) {
	var out bytes.Buffer
	if err := draw([]string{"A & B=" + reportFile(t, report)}, &out); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for _, want := range []string{
		">A &amp; B<", "4,000 writes <", "5,000 writes (+25 %)", "1,000 writes (−75 %)", "36.0 % hits",
		`class="a" x="190" y="46" width="336.0"`, `width="420.0"`, `class="o" x="190" y="98" width="84.0"`,
		"<title>Writes of edgeproxy. A &amp; B: 25.0 % of the writes</title>", "prefers-color-scheme:dark",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	for d := xml.NewDecoder(&out); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestChartWithoutNginx(t *testing.T) {
	var out bytes.Buffer
	err := draw([]string{"A=" + reportFile(t, strings.ReplaceAll(report, "nginx", "other"))}, &out)
	if err != nil || strings.Contains(out.String(), "nginx") || !strings.Contains(out.String(), "edgeproxy</text>") {
		t.Errorf("got %v, %s", err, out.String())
	}
}

func TestChartSaysWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ arg, want string }{
		{"", `"" must be TITLE=REPORT.json`},
		{"A", `"A" must be TITLE=REPORT.json`},
		{"A=" + filepath.Join(t.TempDir(), "none"), "no such file"},
		{"A=" + reportFile(t, "no JSON"), "must be a report of the load test (--json-file)"},
		{"A=" + reportFile(t, `{"results": [{"policy": "always", "writes": 1}]}`), "has no result of second-hit"},
		{"A=" + reportFile(t, strings.Replace(report, "4000", "0", 1)), "always wrote nothing"},
	} {
		if err := draw([]string{c.arg}, io.Discard); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %s", c.arg, err, c.want)
		}
	}
	if err := draw(nil, io.Discard); err == nil || !strings.Contains(err.Error(), "no report") {
		t.Errorf("got %v", err)
	}
}
