package config

import (
	"errors"
	"strings"
	"time"
)

// maxDuration is far above any use, and small enough that adding it to a time never overflows.
const maxDuration = 8760 * time.Hour

// parseDuration reads a duration of 0s to a year. The error says what is
// wanted, with example, a duration that fits the setting.
func parseDuration(text string, example time.Duration) (time.Duration, error) {
	if text == "0" {
		return 0, errors.New("want 0s: a duration needs a unit")
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return 0, errors.New("want a duration with a unit (ms, s, m or h), such as " + formatDuration(example))
	case d < 0:
		return 0, errors.New("want a duration that is not negative")
	case d > maxDuration:
		return 0, errors.New("want at most " + formatDuration(maxDuration))
	}
	return d, nil
}

// formatDuration returns d as an operator would write it: 30m, not 30m0s.
func formatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
