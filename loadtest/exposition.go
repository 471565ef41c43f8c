package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

const maxMetricLine = 1 << 20

var errSample = errors.New("want NAME{LABEL=\"VALUE\",...} NUMBER")

// sample is one line of a metric.
type sample struct {
	labels map[string]string
	value  float64
}

// exposition is what /metrics said, by metric name.
type exposition map[string][]sample

// parseExposition reads the Prometheus text format 0.0.4. Comments and time
// stamps are dropped.
func parseExposition(r io.Reader) (exposition, error) {
	out := exposition{}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxMetricLine)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		name, s, err := parseSample(line)
		if err != nil {
			return nil, fmt.Errorf("metric line %q: %w", line, err)
		}
		out[name] = append(out[name], s)
	}
	return out, lines.Err()
}

func parseSample(line string) (name string, s sample, err error) {
	end := strings.IndexAny(line, "{ \t")
	if end <= 0 {
		return "", s, errSample
	}
	name, rest := line[:end], line[end:]
	s.labels = map[string]string{}
	if rest[0] == '{' {
		if rest, err = parseLabels(rest[1:], s.labels); err != nil {
			return "", s, err
		}
	}
	f := strings.Fields(rest)
	if len(f) < 1 || len(f) > 2 {
		return "", s, errSample
	}
	if s.value, err = strconv.ParseFloat(f[0], 64); err != nil {
		return "", s, errSample
	}
	return name, s, nil
}

// parseLabels reads what follows the opening brace and returns what follows the
// closing one.
func parseLabels(s string, into map[string]string) (rest string, err error) {
	for {
		s = strings.TrimLeft(s, ", \t")
		if after, ok := strings.CutPrefix(s, "}"); ok {
			return after, nil
		}
		name, after, ok := strings.Cut(s, `="`)
		if !ok || name == "" {
			return "", errSample
		}
		var value string
		if value, s, ok = labelValue(after); !ok {
			return "", errSample
		}
		into[name] = value
	}
}

// labelValue reads up to the closing quote and undoes \\, \" and \n.
func labelValue(s string) (value, rest string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			return b.String(), s[i+1:], true
		case '\\':
			i++
			if i == len(s) {
				return "", "", false
			}
			if s[i] == 'n' {
				b.WriteByte('\n')
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return "", "", false
}

// sum adds the samples of a metric whose labels are as given (name, value pairs).
// found says whether there was any.
func (e exposition) sum(name string, labels ...string) (total float64, found bool) {
	for _, s := range e[name] {
		if s.has(labels) {
			total += s.value
			found = true
		}
	}
	return total, found
}

func (s *sample) has(labels []string) bool {
	for i := 0; i+1 < len(labels); i += 2 {
		if s.labels[labels[i]] != labels[i+1] {
			return false
		}
	}
	return true
}
