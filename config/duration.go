package config

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// maxDuration is far above any use, and small enough that adding it to a time never overflows.
const maxDuration = 8760 * time.Hour

// parseDuration reads a duration of 0s to a year. The error says what is
// wanted, with example, a duration that fits the setting.
func parseDuration(text string, example time.Duration) (time.Duration, error) {
	if text == "0" {
		return 0, errors.New("must be 0s: a duration needs a unit")
	}
	d, err := parseUnits(text)
	switch {
	case err != nil:
		return 0, errors.New("must be a duration with a unit (ms, s, m, h, d or w), such as " + formatDuration(example))
	case d < 0:
		return 0, errors.New("must be a duration that is not negative")
	case d > maxDuration:
		return 0, errors.New("must be at most " + formatDuration(maxDuration))
	}
	return d, nil
}

// parseUnits is time.ParseDuration with d and w, for days of 24 hours and weeks of 7 days, as nginx and Varnish have them.
func parseUnits(text string) (sum time.Duration, err error) {
	for text != "" {
		end := strings.IndexAny(text, "dw")
		if end < 0 {
			break
		}
		days, err := strconv.ParseFloat(text[:end], 64)
		if err != nil || days < 0 || strings.ContainsAny(text[:end], "+eExXpPiInN_") {
			return 0, errNoDuration
		}
		if text[end] == 'w' {
			days *= 7
		}
		if days > 2*maxDuration.Hours()/24 { // and the sum would overflow
			return 2 * maxDuration, nil
		}
		sum += time.Duration(days * 24 * float64(time.Hour))
		if text = text[end+1:]; text == "" {
			return sum, nil
		}
	}
	rest, err := time.ParseDuration(text)
	if sum > 0 && rest < 0 {
		err = errNoDuration
	}
	return sum + rest, err
}

var errNoDuration = errors.New("no duration")

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
