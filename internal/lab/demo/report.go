package demo

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// linesPerHeading keeps the names of the columns in sight.
const linesPerHeading = 20

// banner says what is running and where to look.
func banner(o Options, p pair) string {
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "edgeproxy demo: a proxy that stores on the second sighting, beside one that always stores\n\n")
	_, _ = fmt.Fprintf(&b, "  proxy       http://%s  (policy second-hit, %s)\n", o.SecondHit.Address(), sizes(p.secondHit))
	_, _ = fmt.Fprintf(&b, "  metrics     http://%s/metrics\n", o.SecondHit.Admin())
	_, _ = fmt.Fprintf(&b, "  status      http://%s/status\n", o.SecondHit.Admin())
	_, _ = fmt.Fprintf(&b, "  always      http://%s  (policy always, %s; status http://%s/status)\n",
		o.Always.Address(), sizes(p.always), o.Always.Admin())
	_, _ = fmt.Fprintf(&b, "  origin      http://%s\n\n", o.Origin)
	for _, note := range o.Notes {
		_, _ = fmt.Fprintf(&b, "%s\n", note)
	}
	_, _ = fmt.Fprintf(&b, "Both get the same %s requests a second. Ask thrice for something of your own, and see Cache-Status change:\n", humanize.Comma(requestsPerSecond))
	_, _ = fmt.Fprintf(&b, "  curl -s -o /dev/null -D - http://%s/mine\n", o.SecondHit.Address())
	if o.Seconds > 0 {
		_, _ = fmt.Fprintf(&b, "It ends after %d s, or by Ctrl-C before, with a summary.\n", o.Seconds)
	} else {
		b.WriteString("Ctrl-C ends it, with a summary.\n")
	}
	return b.String()
}

// sizes says how large a cache is.
func sizes(c Counts) string {
	return fmt.Sprintf("%s of memory before %s of disk", bytesText(c.MaxBytes), bytesText(c.MaxDiskBytes))
}

// The columns, all right-aligned: names in two lines, then lines of values, which
// count from the start. They are wide enough for a day.
const columns = "%8s %12s  %7s %7s  %10s %10s %8s %10s  %10s %10s  %10s\n"

// heading returns the names of the columns where line number n, from 0, wants
// them above it.
func heading(n int) string {
	if n%linesPerHeading != 0 {
		return ""
	}
	return "\n" +
		fmt.Sprintf(columns, "", "", "hit", "under", "cache", "under", "writes", "bytes", "to the", "under", "origin") +
		fmt.Sprintf(columns, "time", "requests", "ratio", "always", "writes", "always", "saved", "saved", "disk", "always", "extra")
}

// line returns the values of one moment.
func line(elapsed time.Duration, p pair) string {
	return fmt.Sprintf(columns,
		clock(elapsed), humanize.Comma(p.secondHit.Requests),
		percent(p.secondHit.HitRatio), percent(p.always.HitRatio),
		humanize.Comma(p.secondHit.Writes), humanize.Comma(p.always.Writes),
		percent(saved(p.secondHit.Writes, p.always.Writes)), bytesText(p.always.WriteBytes-p.secondHit.WriteBytes),
		bytesText(p.secondHit.DiskBytes), bytesText(p.always.DiskBytes),
		signed(p.secondHit.OriginRequests-p.always.OriginRequests))
}

// failures is what the clients saw fail.
type failures struct {
	secondHit, always int
	last              error
}

// summary returns the whole of a run: a table, and what it says.
func summary(elapsed time.Duration, p pair, f failures) string {
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "\nAfter %s:\n\n", clock(elapsed))
	b.WriteString(table(p))
	if f.last != nil {
		b.WriteString(tableRow("failed requests", strconv.Itoa(f.secondHit), strconv.Itoa(f.always)))
		_, _ = fmt.Fprintf(&b, "\nThe last failure: %s\n", strings.ReplaceAll(f.last.Error(), "\n", "; "))
	}
	b.WriteString("\n" + verdict(p))
	return b.String()
}

// table sets the counts of both proxies side by side.
func table(p pair) string {
	a, z := p.secondHit, p.always
	return tableRow("", "second-hit", "always") +
		tableRow("requests", humanize.Comma(a.Requests), humanize.Comma(z.Requests)) +
		tableRow("hit ratio", percent(a.HitRatio), percent(z.HitRatio)) +
		tableRow("cache writes", humanize.Comma(a.Writes), humanize.Comma(z.Writes)) +
		tableRow("bytes written", bytesText(a.WriteBytes), bytesText(z.WriteBytes)) +
		tableRow("written to disk", bytesText(a.DiskBytes), bytesText(z.DiskBytes)) +
		tableRow("evictions", humanize.Comma(a.Evictions), humanize.Comma(z.Evictions)) +
		tableRow("origin requests", humanize.Comma(a.OriginRequests), humanize.Comma(z.OriginRequests)) +
		tableRow("origin bytes", bytesText(a.OriginBytes), bytesText(z.OriginBytes))
}

func tableRow(name, secondHit, always string) string {
	return fmt.Sprintf("  %-16s %14s %14s\n", name, secondHit, always)
}

// verdict says what was saved and what that cost. The responses held back stand
// beside the regret, never alone: they are not the saving.
func verdict(p pair) string {
	a, z := p.secondHit, p.always
	return fmt.Sprintf("  saved      %s cache writes (%s) and %s (%s)\n",
		humanize.Comma(z.Writes-a.Writes), percent(saved(a.Writes, z.Writes)),
		bytesText(z.WriteBytes-a.WriteBytes), percent(saved(a.WriteBytes, z.WriteBytes))) +
		fmt.Sprintf("  the disk   %s fewer written to it (%s), with heads and what is written again\n",
			bytesText(z.DiskBytes-a.DiskBytes), percent(saved(a.DiskBytes, z.DiskBytes))) +
		fmt.Sprintf("  the price  %s origin requests and %s from the origin, against always\n",
			signed(a.OriginRequests-z.OriginRequests), signedBytes(a.OriginBytes-z.OriginBytes)) +
		fmt.Sprintf("  estimate   %s writes: %s responses held back less %s whose key came again (regret)\n",
			humanize.Comma(a.HeldBack-a.Regret), humanize.Comma(a.HeldBack), humanize.Comma(a.Regret)) +
		"             Without a second proxy to compare with, this is what /status and /metrics can tell.\n"
}

// saved is the share of always that did not happen; negative where more
// happened, and 0 where always is.
func saved(n, always int64) float64 {
	if always == 0 {
		return 0
	}
	return 1 - float64(n)/float64(always)
}

func percent(ratio float64) string { return fmt.Sprintf("%.1f %%", 100*ratio) }

// bytesText is humanize's text, for differences too.
func bytesText(n int64) string {
	if n < 0 {
		return "-" + humanize.IBytes(uint64(-n))
	}
	return humanize.IBytes(uint64(n))
}

func signed(n int64) string {
	if n <= 0 {
		return humanize.Comma(n)
	}
	return "+" + humanize.Comma(n)
}

func signedBytes(n int64) string {
	if n <= 0 {
		return bytesText(n)
	}
	return "+" + bytesText(n)
}

// clock is the time since the start as M:SS or H:MM:SS, to the second below.
func clock(d time.Duration) string {
	s := int64(d / time.Second)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}
