package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"

	"edgeproxy/internal/edge"
	"edgeproxy/internal/proxy"
)

// screen returns a status as text. With the status before it, it also shows how much counts have grown since.
func screen(now, before *edge.Status) string {
	if before != nil && !before.Started.Equal(now.Started) {
		before = &edge.Status{} // the proxy was restarted: its counts began at 0
	}
	var b strings.Builder
	problemLines(&b, now.Problems)
	fmt.Fprintf(&b, "%s %s, %s, up %s, %d in flight\n\n", now.Node, now.Version, readiness(now.Ready), uptime(now.Uptime), now.Requests.RequestsInFlight)
	configLines(&b, now.Config)
	requestLines(&b, now, before)
	latelyLines(&b, now)
	classLines(&b, now)
	savingsLines(&b, now)
	tierLines(&b, now.Cache)
	windowLines(&b, now.Filters)
	originLines(&b, now.Origins)
	firstByteLines(&b, now)
	limitLines(&b, now)
	certificateLines(&b, now)
	shadowLines(&b, now)
	notStoredLine(&b, now.Requests.NotStored)
	cookieLine(&b, now.Requests.NotStoredCookies)
	return b.String()
}

// problemLines writes what is wrong, if anything is.
func problemLines(b *strings.Builder, problems []edge.Problem) {
	if len(problems) == 0 {
		return
	}
	b.WriteString("problems:\n")
	for i := range problems {
		b.WriteString("  " + problems[i].String() + "\n")
	}
	b.WriteString("\n")
}

// configLines writes how the configuration in force differs from the file.
func configLines(b *strings.Builder, c *edge.ReloadStatus) {
	if c == nil {
		return
	}
	if !c.Successful {
		fmt.Fprintf(b, "%s is refused, and the previous configuration stays in force:\n  %s\n\n", c.File, strings.ReplaceAll(c.Error, "\n", "\n  "))
	}
	if len(c.Restart) > 0 {
		paths := make([]string, len(c.Restart))
		for i, s := range c.Restart {
			paths[i] = s.Path
		}
		fmt.Fprintf(b, "need a restart: %s\n\n", strings.Join(paths, ", "))
	}
}

func readiness(ready bool) string {
	if ready {
		return "ready"
	}
	return "not ready"
}

func uptime(seconds float64) string {
	return (time.Duration(seconds) * time.Second).String()
}

func percent(ratio float64) string { return fmt.Sprintf("%.1f %%", 100*ratio) }

func sizeOf(n int64) string { return humanize.IBytes(uint64(max(n, 0))) }

// table writes rows, whose cells are separated by tabs, in aligned columns.
func table(b *strings.Builder, rows ...string) {
	var aligned strings.Builder
	w := tabwriter.NewWriter(&aligned, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, strings.Join(rows, "\n"))
	_ = w.Flush()
	for line := range strings.Lines(aligned.String()) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	b.WriteString("\n")
}

// requestLines writes the results of requests, the most frequent first.
func requestLines(b *strings.Builder, now, before *edge.Status) {
	t := now.Requests.Totals
	since := proxy.RouteStatus{}
	head := "requests\ttotal\tshare"
	if before != nil {
		since = before.Requests.Totals
		head += "\tin the last " + (time.Duration(10*(now.Uptime-before.Uptime)+0.5) * time.Second / 10).String()
	}
	row := func(name string, n, was int64, share string) string {
		cells := fmt.Sprintf("%s\t%d\t%s", name, n, share)
		if before != nil {
			cells += fmt.Sprintf("\t%d", n-was)
		}
		return cells
	}
	rows := []string{head, row("all", t.Requests, since.Requests, "")}
	for _, name := range byCount(t.Results) {
		if n := t.Results[name]; n > 0 {
			rows = append(rows, row(name, n, since.Results[name], percent(float64(n)/float64(max(t.Requests, 1)))))
		}
	}
	table(b, rows...)
	fmt.Fprintf(b, "hit ratio %s of requests, %s of bytes; %s sent\n\n", percent(t.HitRatio), percent(t.ByteHitRatio), sizeOf(t.ResponseBytes))
}

// savingsLines writes the writes that admission avoided, and what they cost in further fetches.
func savingsLines(b *strings.Builder, now *edge.Status) {
	f, hour := now.Requests.Totals.Fills, now.Requests.Totals.LastHour
	fmt.Fprintf(b, "stored %d, held back %d; writes avoided %d (%s), fetched again because of it %d (%s)\n",
		f.Stored, f.HeldBack, f.Saved, sizeOf(f.SavedBytes), f.Regret, sizeOf(f.RegretBytes))
	fmt.Fprintf(b, "in the last %s: writes avoided %d (%s), fetched again because of it %d (%s)\n\n",
		uptime(now.LastHour), hour.Saved, sizeOf(hour.SavedBytes), hour.Regret, sizeOf(hour.RegretBytes))
}

func tierLines(b *strings.Builder, c edge.CacheStatus) {
	rows := []string{"tier\tobjects\tbytes\tof\twritten\tnever hit\tevicted at the age of"}
	add := func(name string, t *edge.TierStatus) {
		if t != nil {
			rows = append(rows, fmt.Sprintf("%s\t%d\t%s\t%s\t%d\t%d\t%s", name, t.Objects, sizeOf(t.Bytes), sizeOf(t.MaxBytes), t.Writes, t.StoresNeverHit, evictionAgesText(t)))
		}
	}
	add("memory", &c.TierStatus)
	add("stage", c.Stage)
	if c.Disk != nil {
		add("disk", &c.Disk.TierStatus)
		for _, d := range c.Disk.Directories {
			if d.Trouble != "" {
				rows = append(rows, "  "+d.Path+": "+d.Trouble)
			}
		}
	}
	table(b, rows...)
}

func windowLines(b *strings.Builder, filters []edge.FilterStatus) {
	if len(filters) == 0 {
		return
	}
	rows := []string{"window\tremembers\tkeys\tfill\tfalse positives\tmeasured\trotations"}
	for _, f := range filters {
		fill := make([]string, len(f.Generations))
		for i, g := range f.Generations {
			fill[i] = percent(g.FillRatio)
		}
		causes := make([]string, 0, len(f.Rotations))
		for _, cause := range slices.Sorted(maps.Keys(f.Rotations)) {
			if n := f.Rotations[cause]; n > 0 {
				causes = append(causes, fmt.Sprintf("%d %s", n, cause))
			}
		}
		measured := "none yet"
		if f.Measured.RatioUnseen > 0 {
			measured = fmt.Sprintf("%.3g %%", 100*f.Measured.FalsePositiveRatio)
		}
		rows = append(rows, fmt.Sprintf("%s\t%s\t%d\t%s\t%.3g %%\t%s\t%s", f.Name, uptime(f.WindowSeconds), f.WindowKeys,
			strings.Join(fill, ", "), 100*f.FalsePositiveRatio, measured, orNone(strings.Join(causes, ", "))))
	}
	table(b, rows...)
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func originLines(b *strings.Builder, origins []edge.OriginStatus) {
	rows := []string{"origin\tserver\tstate\tconnections\tidle\tqueue\tanswers"}
	for _, o := range origins {
		for i := range o.Servers {
			s := &o.Servers[i]
			state := s.State
			if s.Backup {
				state += ", a backup"
			}
			if s.EjectedFor > 0 {
				state += ", tried again in " + uptime(s.EjectedFor)
			}
			connections := strconv.Itoa(s.Active)
			if s.Upgraded > 0 {
				connections += fmt.Sprintf(", %d upgraded", s.Upgraded)
			}
			rows = append(rows, fmt.Sprintf("%s\t%s\t%s\t%s\t%d\t%d\t%s", o.Name, s.Address, state, connections, s.Idle, o.Waiting, serverClasses(s)))
		}
	}
	table(b, rows...)
}

// shadowLines writes what the shadow policies would have done.
func shadowLines(b *strings.Builder, now *edge.Status) {
	if len(now.Admission.Shadow) == 0 {
		return
	}
	rows := []string{"what if\thit ratio\tof bytes\tto the origin\twrites"}
	for _, s := range now.Admission.Shadow {
		rows = append(rows, fmt.Sprintf("%s\t%s\t%s\t%d\t%d", s.Name, percent(s.HitRatio), percent(s.ByteHitRatio), s.OriginRequests, s.Writes))
	}
	table(b, rows...)
}

func notStoredLine(b *strings.Builder, reasons map[string]int64) {
	var parts []string
	for _, name := range byCount(reasons) {
		if n := reasons[name]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", name, n))
		}
	}
	fmt.Fprintf(b, "not stored: %s\n", orNone(strings.Join(parts, ", ")))
}

// mostCookies are named on the screen.
const mostCookies = 5

// cookieLine says for which cookies responses were not stored.
func cookieLine(b *strings.Builder, counts map[string]int64) {
	if len(counts) == 0 {
		return
	}
	var parts []string
	for _, name := range byCount(counts) {
		if len(parts) == mostCookies {
			parts = append(parts, "...")
			break
		}
		parts = append(parts, fmt.Sprintf("%s %d", name, counts[name]))
	}
	fmt.Fprintf(b, "request-cookie: %s; cache.keep_cookies or strip_cookies removes what the origin does not need\n", strings.Join(parts, ", "))
}

// byCount returns the names sorted by count, largest first, then by name.
func byCount(counts map[string]int64) []string {
	names := slices.Sorted(maps.Keys(counts))
	slices.SortStableFunc(names, func(a, b string) int { return int(max(-1, min(1, counts[b]-counts[a]))) })
	return names
}
