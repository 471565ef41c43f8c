package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"edgeproxy/internal/edge"
)

// objectLine formats o as one line.
func objectLine(o *edge.Object, now time.Time) string {
	fresh := "fresh " + roughDuration(o.FreshUntil.Sub(now))
	if !now.Before(o.FreshUntil) {
		fresh = "stale " + roughDuration(now.Sub(o.FreshUntil))
	}
	parts := []string{
		fmt.Sprintf("%d  %10d  age %-8s %-14s", o.Status, o.Bytes, roughDuration(time.Duration(o.Age*float64(time.Second))), fresh), quoteUnprintable(o.URL),
	}
	for _, more := range []string{o.Part, o.Variant} {
		if more != "" {
			parts = append(parts, "["+quoteUnprintable(more)+"]")
		}
	}
	if o.Tags > 0 {
		parts = append(parts, fmt.Sprintf("tags: %d", o.Tags))
	}
	return strings.Join(parts, "  ")
}

// roughDuration formats d with its two largest units.
func roughDuration(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d >= day:
		return fmt.Sprintf("%dd%dh", d/day, d%day/time.Hour)
	case d >= time.Hour:
		return fmt.Sprintf("%dh%dm", d/time.Hour, d%time.Hour/time.Minute)
	case d >= time.Minute:
		return fmt.Sprintf("%dm%ds", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%ds", d/time.Second)
}

// quoteUnprintable quotes text if it has characters that a terminal could act on.
func quoteUnprintable(text string) string {
	if q := strconv.Quote(text); q[1:len(q)-1] != text {
		return q
	}
	return text
}
