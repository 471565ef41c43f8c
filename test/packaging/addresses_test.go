package packaging

import (
	"regexp"
	"strings"
	"testing"
)

// The image and the chart said 0.0.0.0, which is IPv4 alone: on hosts with IPv6 alone no probe would be answered.
func TestWhatIsShippedListenedByIPv4Alone(t *testing.T) {
	address := regexp.MustCompile(`(listen: \[\{|metrics: \{)address: "([^"]*)"`)
	for _, file := range []string{"packaging/docker/edgeproxy.yaml", chart + "/values.yaml"} {
		found := address.FindAllStringSubmatch(text(t, file), -1)
		if len(found) != 2 {
			t.Errorf("%s: got %d addresses for clients and probes, want 2", file, len(found))
		}
		for _, m := range found {
			if !strings.HasPrefix(m[2], ":") {
				t.Errorf("%s: got %s, want a port alone, which is IPv4 and IPv6", file, m[2])
			}
		}
	}
}
