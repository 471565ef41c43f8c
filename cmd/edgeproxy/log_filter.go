package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/ops/accesslog"
	"edgeproxy/internal/proxy"
)

// logFilter is a condition on a line of the access log: a field, a comparison and a value.
type logFilter struct {
	field string
	op    string
	text  string
	// number is the value for a numeric field: seconds, if the field is a time span.
	number   float64
	isNumber bool
}

// numberFields are the numeric fields; true: in seconds.
var numberFields = map[string]bool{
	"status": false, "bytes": false, "sightings": false, "ttl": true, "duration": true, "first_byte": true,
	"origin_connect": true, "origin_first_byte": true, "origin_total": true,
}

// comparisons are the operators. The longer ones come first, so that >= is not read as >.
var comparisons = []string{">=", "<=", "!=", "=", ">", "<"}

// parseLogFilter reads a filter such as result=miss, status>=500 or duration>250ms.
func parseLogFilter(s string) (f logFilter, err error) {
	at := strings.IndexAny(s, "<>=!")
	if at < 1 {
		return f, fmt.Errorf("%q: must be FIELD=VALUE, or another comparison: %s", s, strings.Join(comparisons, " "))
	}
	f.field = s[:at]
	if !slices.ContainsFunc(accesslog.Fields(), func(known accesslog.Field) bool { return known.Name == f.field }) {
		return f, fmt.Errorf("%q: unknown field %s, must be one of %s", s, f.field, fieldNames())
	}
	i := slices.IndexFunc(comparisons, func(op string) bool { return strings.HasPrefix(s[at:], op) })
	if i < 0 {
		return f, fmt.Errorf("%q: must be one of %s behind %s", s, strings.Join(comparisons, " "), f.field)
	}
	f.op, f.text = comparisons[i], s[at+len(comparisons[i]):]
	seconds, isNumber := numberFields[f.field]
	if f.isNumber = isNumber; isNumber {
		if f.number, err = parseNumber(f.text, seconds); err != nil {
			return f, fmt.Errorf("%q: %w", s, err)
		}
		return f, nil
	}
	if err := f.parseText(); err != nil {
		return f, fmt.Errorf("%q: %w", s, err)
	}
	return f, nil
}

// parseText checks the value for a field that is not numeric.
func (f *logFilter) parseText() error {
	if f.field == "time" {
		at, err := time.Parse(time.RFC3339Nano, f.text)
		if err != nil {
			return errors.New("must be a time such as 2026-01-02T15:04:05Z")
		}
		f.text = at.UTC().Format("2006-01-02T15:04:05.000000Z") // the log's format: its text order is its time order
		return nil
	}
	if f.op != "=" && f.op != "!=" {
		return fmt.Errorf("%s is text, must be = or !=", f.field)
	}
	if words := wordsOf(f.field); words != nil && !slices.Contains(words, f.text) {
		return fmt.Errorf("unknown %s %s, must be one of %s", f.field, f.text, strings.TrimPrefix(strings.Join(words, ", "), ", "))
	}
	return nil
}

// wordsOf returns all values that a field may have; nil: any.
func wordsOf(field string) (words []string) {
	switch field {
	case "result":
		return proxy.Results()
	case "reason":
		for r := range reason.Count {
			words = append(words, r.String())
		}
	}
	return words
}

func fieldNames() string {
	var names []string
	for _, f := range accesslog.Fields() {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}

// parseNumber reads a number or, with seconds, a duration.
func parseNumber(text string, seconds bool) (float64, error) {
	if n, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(n) && !math.IsInf(n, 0) {
		return n, nil
	}
	if !seconds {
		return 0, fmt.Errorf("must be a number, got %q", text)
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("must be seconds or a duration with a unit (ms, s, m or h), such as 1.5 or 250ms, got %q", text)
	}
	return d.Seconds(), nil
}

// matches reports whether a decoded line meets the condition. A line without the field meets
// none.
func (f *logFilter) matches(line map[string]any) bool {
	order := 0
	switch v := line[f.field].(type) {
	case float64:
		if !f.isNumber {
			return false
		}
		order = compareNumbers(v, f.number)
	case string:
		if f.isNumber {
			return false
		}
		order = strings.Compare(v, f.text)
	default:
		return false
	}
	switch f.op {
	case "=":
		return order == 0
	case "!=":
		return order != 0
	case ">":
		return order > 0
	case ">=":
		return order >= 0
	case "<":
		return order < 0
	default:
		return order <= 0
	}
}

func compareNumbers(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
