package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"edgeproxy/internal/edge"
)

// limitLines writes the limits that took effect, the most frequent first.
func limitLines(b *strings.Builder, now *edge.Status) {
	type line struct {
		name, did string
		edge.LimitCount
	}
	var lines []line
	for name, c := range now.Limits.Refused {
		lines = append(lines, line{name, "refused", c})
	}
	for name, c := range now.Limits.LetGo {
		lines = append(lines, line{name, "let go", c})
	}
	if len(lines) == 0 {
		return
	}
	slices.SortFunc(lines, func(a, b line) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.did, b.did), cmp.Compare(a.name, b.name))
	})
	rows := []string{"limit\tdid\ttimes\tin the last " + uptime(now.Lately)}
	for _, l := range lines {
		rows = append(rows, fmt.Sprintf("%s\t%s\t%d\t%d", l.name, l.did, l.Total, l.Lately))
	}
	table(b, rows...)
}

// firstByteLines writes each origin's recent time to first byte, or the time since the start if it had no recent requests.
func firstByteLines(b *strings.Builder, now *edge.Status) {
	rows := []string{"first byte\tof the last\tresponses\tmean\t50 % within\t95 % within"}
	for _, o := range now.Origins {
		f, of := o.FirstByteLately, now.Lately
		if f.Responses == 0 {
			f, of = o.FirstByte, now.Uptime
		}
		if f.Responses > 0 {
			rows = append(rows, fmt.Sprintf("%s\t%s\t%d\t%s\t%s\t%s", o.Name, uptime(of), f.Responses, shortDuration(f.Mean), shortDuration(f.P50), shortDuration(f.P95)))
		}
	}
	if len(rows) > 1 {
		table(b, rows...)
	}
}

// evictionAgesText returns the ages of evicted objects. A cause other than capacity follows its age.
func evictionAgesText(t *edge.TierStatus) string {
	var parts []string
	for _, cause := range slices.Sorted(maps.Keys(t.EvictionAge)) {
		part := shortDuration(t.EvictionAge[cause])
		if cause != "capacity" {
			part += " (" + cause + ")"
		}
		parts = append(parts, part)
	}
	return orNone(strings.Join(parts, ", "))
}

// shortDuration formats seconds with three significant digits, at most to the microsecond; from a minute on to the second.
func shortDuration(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	if d >= time.Minute {
		return uptime(seconds)
	}
	unit := time.Microsecond
	for d >= 1000*unit {
		unit *= 10
	}
	return d.Round(unit).String()
}

const (
	// maxCertificateLines bounds the certificates on a screen.
	maxCertificateLines = 5
	// expiresSoon is the time left below which the screen warns. The alert EdgeproxyCertificateExpires has the same.
	expiresSoon = 14 // days
)

// certificateLines writes the certificates that expire first.
func certificateLines(b *strings.Builder, now *edge.Status) {
	if len(now.Certificates) == 0 {
		return
	}
	rows := []string{"certificate\tfrom\texpires\tdays left"}
	for _, c := range now.Certificates[:min(len(now.Certificates), maxCertificateLines)] {
		from := cmp.Or(c.File, "ACME")
		if c.NotAfter == nil || c.DaysLeft == nil {
			rows = append(rows, fmt.Sprintf("%s\t%s\tnone yet\t", firstTwoNames(c.Names), from))
			continue
		}
		rows = append(rows, fmt.Sprintf("%s\t%s\t%s\t%d%s", firstTwoNames(c.Names), from, c.NotAfter.UTC().Format(time.DateOnly), *c.DaysLeft, urgency(*c.DaysLeft)))
	}
	if more := now.CertificateCount - maxCertificateLines; more > 0 {
		rows = append(rows, fmt.Sprintf("and %d that expire later", more))
	}
	table(b, rows...)
}

func urgency(days int64) string {
	switch {
	case days < 0:
		return ", expired"
	case days < expiresSoon:
		return ", renew it"
	}
	return ""
}

// firstTwoNames returns the first two names, and an ellipsis for more.
func firstTwoNames(names []string) string {
	if len(names) > 2 {
		return strings.Join(names[:2], ", ") + ", …"
	}
	return orNone(strings.Join(names, ", "))
}
