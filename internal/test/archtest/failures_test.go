package archtest

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestFailuresHaveRows: the page of failures names each metric that shows one, by what the list of metrics has. Rows for
// the log, for traces, for a refused file and for panics were missing.
func TestFailuresHaveRows(t *testing.T) {
	list, err := os.ReadFile("../../../docs/operating/watch.md")
	if err != nil {
		t.Fatal(err)
	}
	failures, err := os.ReadFile("../../../docs/operating/failures.md")
	if err != nil {
		t.Fatal(err)
	}
	metrics := regexp.MustCompile(`edgeproxy_([a-z_]+_)?(failures|dropped|errors|rejections|refused|lost|panics|forgotten|behind|over_limit|negatives)_total`+
		`|edgeproxy_config_last_reload_successful|edgeproxy_config_needs_restart_settings`).FindAllString(string(list), -1)
	if len(metrics) < 10 {
		t.Fatalf("the list has %q, want more", metrics)
	}
	for _, metric := range metrics {
		if !strings.Contains(string(failures), strings.TrimPrefix(metric, "edgeproxy_")) {
			t.Errorf("failures.md has nothing of %s", metric)
		}
	}
}
