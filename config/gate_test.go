package config

import "testing"

// A configuration whose window would take more than one filter can hold was said to be right,
// and serve did not start for a capacity that nobody had given.
func TestCheckPassedAFittedWindowThatNoFilterHolds(t *testing.T) {
	const want = "must be a higher one, or window: fixed; a window that fits this cache may need more keys than one filter holds at this rate"
	f := func(name, maxBytes, admission, fault string) {
		t.Helper()
		text := "origins: {app: {servers: [\"http://h\"]}}\ncache: {memory: {max_bytes: " + maxBytes + "}}\nadmission: {" + admission + "}\n"
		if got := problems(text); got != fault {
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
