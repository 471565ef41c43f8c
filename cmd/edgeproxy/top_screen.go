package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"edgeproxy/internal/edge"
)

// widestName bounds a name on a screen, in characters. --json shows more.
const widestName = 120

// screen returns the document as text.
func (o *topOptions) screen(text []byte) (string, error) {
	if o.requests {
		var a edge.Requests
		if err := json.Unmarshal(text, &a); err != nil || a.Requests == nil {
			return "", fmt.Errorf("top: %s: %s", o.address, notOurs)
		}
		return requestsScreen(&a), nil
	}
	var a edge.Top
	if err := json.Unmarshal(text, &a); err != nil || a.Hosts == nil {
		return "", fmt.Errorf("top: %s: %s", o.address, notOurs)
	}
	return topScreen(&a, o.by), nil
}

func topScreen(a *edge.Top, by string) string {
	if a.Entries == 0 {
		return "hosts and URLs are not counted: set metrics.top.entries, such as metrics: {top: {entries: 256}}, and reload\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "by %s, of the last %s; the first count is a minimum, too low by at most 1/%d of all\n", by, uptime(a.Over), a.Entries)
	if a.Dropped > 0 {
		fmt.Fprintf(&b, "%d requests were not counted, because others were being counted at that moment\n", a.Dropped)
	}
	b.WriteString("\n")
	topLines(&b, "host", by, a.Hosts[by])
	topLines(&b, "URL", by, a.URLs[by])
	return strings.TrimSuffix(b.String(), "\n")
}

func topLines(b *strings.Builder, kind, by string, l edge.TopList) {
	number := func(n int64) string {
		if by == "bytes" {
			return sizeOf(n)
		}
		return strconv.FormatInt(n, 10)
	}
	rows := []string{by + "\tshare\t" + kind}
	for _, r := range l.Rows {
		count := number(r.AtLeast)
		if most := number(r.AtMost); most != count {
			count += " to " + most
		}
		rows = append(rows, fmt.Sprintf("%s\t%s\t%s", count, percent(float64(r.AtLeast)/float64(max(l.Total, 1))), shortName(r.Name, r.Cut)))
	}
	rows = append(rows, number(l.Total)+"\t\tall")
	table(b, rows...)
}

// shortName cuts a name to widestName characters. It escapes the name: the answer may come from something that is no edgeproxy.
func shortName(name string, cut bool) string {
	name = edge.Escape(name)
	if len(name) > widestName {
		name, cut = name[:widestName], true
	}
	if cut {
		name += "…"
	}
	return name
}

func requestsScreen(a *edge.Requests) string {
	var b strings.Builder
	fmt.Fprintf(&b, "requests in progress: %d\n", a.Total)
	if len(a.Requests) == 0 {
		return b.String()
	}
	if len(a.Requests) < a.Total {
		fmt.Fprintf(&b, "the oldest %d:\n", len(a.Requests))
	}
	b.WriteString("\n")
	rows := []string{"age\tphase\tsent\tclient\troute\tmethod\tURL"}
	for _, r := range a.Requests {
		sent := sizeOf(r.Bytes)
		if r.Received > 0 {
			sent += ", received " + sizeOf(r.Received)
		}
		rows = append(rows, strings.Join([]string{
			ageText(r.Age), edge.Escape(r.Phase), sent, orDash(edge.Escape(r.Client)), orDash(edge.Escape(r.Route)), edge.Escape(r.Method),
			shortName(r.Scheme+"://"+r.Host+r.Target, r.Cut),
		}, "\t"))
	}
	table(&b, rows...)
	return strings.TrimSuffix(b.String(), "\n")
}

// ageText formats seconds, below ten with tenths.
func ageText(seconds float64) string {
	if seconds < 10 {
		return fmt.Sprintf("%.1fs", seconds)
	}
	return (time.Duration(seconds) * time.Second).String()
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
