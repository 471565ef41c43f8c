package edge

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgeproxy/config"
	"edgeproxy/internal/test/testkit"
)

// A configuration whose window would take more than one filter can hold was said to be right,
// and serve did not start for a capacity that nobody had given.
func TestCheckPassedAFittedWindowThatNoFilterHolds(t *testing.T) {
	const want = "must be a higher one, or window: fixed; a window that fits this cache may need more keys than one filter holds at this rate"
	f := func(name, maxBytes, admission, fault string) {
		t.Helper()
		text := "origins: {app: {servers: [\"http://h\"]}}\ncache: {memory: {max_bytes: " + maxBytes + "}}\nadmission: {" + admission + "}\n"
		if got := problems(t, text); got != fault {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, fault)
		}
	}
	f("counting", "64GiB", "policy: counting, counting: {false_positive_rate: 0.000001}",
		"e.yaml:3:63: admission.counting.false_positive_rate: 0.000001: "+want)
	f("second-hit", "900GiB", "second_hit: {false_positive_rate: 0.000000001}",
		"e.yaml:3:47: admission.second_hit.false_positive_rate: 0.000000001: "+want)
	f("the same in a small cache", "64MiB", "second_hit: {false_positive_rate: 0.000000001}", "")
	f("a large cache", "900GiB", "policy: counting", "")
	f("fixed", "64GiB", "policy: counting, counting: {false_positive_rate: 0.000001, window: fixed}", "")
}

// Faults looks at configurations with errors too. Their settings may be anything; here they are those of the tests of config.
func TestFaultsOfAConfigurationWithErrors(t *testing.T) {
	testkit.Plain(t, "hundreds of files are read, one behind another")
	cases, err := filepath.Glob("../../config/testdata/*.txt")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	file := filepath.Join(t.TempDir(), "e.yaml")
	every, n := testkit.Times(1, 4), 0 // the quick run tries one case of four
	for _, name := range cases {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range strings.Split("\n"+string(data), "\n== ")[1:] {
			if n++; n%every != 0 {
				continue
			}
			title, text, _ := strings.Cut(text, "\n")
			text, _, _ = strings.Cut(text, "-----\n")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, plain := config.Load(file)
			_, got := config.Check(file, Faults)
			if plain == nil {
				continue
			}
			for line := range strings.SplitSeq(plain.Error(), "\n") {
				if got == nil || !strings.Contains(got.Error(), line) {
					t.Errorf("%s: got\n%v\nwant this in it:\n%s", title, got, line)
				}
			}
		}
	}
}
