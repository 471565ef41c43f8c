package demo

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// banner says what is running and where to look.
func banner(o Options, p pair) string {
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "edgeproxy demo: what a cache writes that stores on the second request, beside one that stores everything\n\n")
	_, _ = fmt.Fprintf(&b, "  dashboard   http://%s/\n", o.SecondHit.Admin())
	_, _ = fmt.Fprintf(&b, "  edgeproxy   http://%s   ask three times and see Cache-Status change: curl -sD- -o /dev/null http://%s/mine\n",
		o.SecondHit.Address(), o.SecondHit.Address())
	_, _ = fmt.Fprintf(&b, "  always      http://%s   the same program with the policy always; its dashboard: http://%s/\n", o.Always.Address(), o.Always.Admin())
	_, _ = fmt.Fprintf(&b, "  origin      http://%s\n\n", o.Origin)
	for _, note := range o.Notes {
		_, _ = fmt.Fprintf(&b, "%s\n", note)
	}
	_, _ = fmt.Fprintf(&b, "Both have %s and get the same %s requests a second. ", sizes(p.secondHit), humanize.Comma(requestsPerSecond))
	if o.Seconds > 0 {
		_, _ = fmt.Fprintf(&b, "It ends after %d s, or by Ctrl-C before, with a summary.\n", o.Seconds)
	} else {
		b.WriteString("Ctrl-C ends it, with a summary.\n")
	}
	if o.WarmUp > 0 {
		_, _ = fmt.Fprintf(&b, "First both caches are filled, for at most %s.\n", o.WarmUp)
	}
	return b.String()
}

// warmed says that the numbers begin.
func warmed(took time.Duration, p pair) string {
	state := "Both caches are full"
	if !p.full() {
		state = "The caches are not full yet"
	}
	return fmt.Sprintf("%s, after %s requests in %s. All numbers begin now.\n\n", state, humanize.Comma(p.secondHit.Requests), took.Round(100*time.Millisecond))
}

// sizes says how large a cache is.
func sizes(c Counts) string {
	return fmt.Sprintf("%s of memory before %s of disk", bytesText(c.MaxBytes), bytesText(c.MaxDiskBytes))
}

// barWidth is the length of the longest bar, in characters.
const barWidth = 32

// bars draws what both have written to their disks. The scale doubles when always has reached its end.
func bars(p pair) string {
	scale := int64(1 << 20)
	for scale < max(p.always.DiskBytes, p.secondHit.DiskBytes) {
		scale *= 2
	}
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "  %-10s %*s %9s %10s\n", "", -barWidth, "written to disk", "bytes", "writes")
	for _, row := range [...]struct {
		name string
		c    Counts
	}{{"edgeproxy", p.secondHit}, {"always", p.always}} {
		_, _ = fmt.Fprintf(&b, "  %-10s %s %9s %10s\n", row.name, bar(float64(row.c.DiskBytes)/float64(scale)), bytesText(row.c.DiskBytes), humanize.Comma(row.c.Writes))
	}
	return b.String()
}

// eighths are the last character of a bar, by the eighths of it that are filled.
var eighths = [...]string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}

// bar draws a share of the longest bar, in [0, 1], and pads it with spaces.
func bar(share float64) string {
	n := int(math.Round(max(share, 0) * barWidth * 8))
	text := strings.Repeat("█", n/8) + eighths[n%8]
	return text + strings.Repeat(" ", max(barWidth-(n+7)/8, 0))
}

// screen is what is drawn now, and drawn anew with the next counts.
type screen struct{ drawn string }

// next returns what to print: a verdict if it is due, and the bars, which redraws has in the place of those before.
func (s *screen) next(redraws, due bool, elapsed time.Duration, p pair) (text string) {
	if redraws {
		text = erased(s.drawn)
	}
	if due {
		text += verdict(elapsed, p)
	}
	if !redraws && !due {
		return text
	}
	s.drawn = bars(p)
	if redraws {
		s.drawn += "  the price: " + price(p) + "\n"
	}
	return text + s.drawn
}

// erased moves the cursor to the beginning of what was drawn last, and erases it.
func erased(drawn string) string {
	if drawn == "" {
		return ""
	}
	return fmt.Sprintf("\x1b[%dA\x1b[J", strings.Count(drawn, "\n"))
}

// verdict says in one line what was saved until now, and the price.
func verdict(elapsed time.Duration, p pair) string {
	return fmt.Sprintf("%6s  %s of the bytes and %s of the writes to the disk avoided. The price: %s.\n", clock(elapsed),
		percent(saved(p.secondHit.DiskBytes, p.always.DiskBytes)), percent(saved(p.secondHit.Writes, p.always.Writes)), price(p))
}

// price says how many requests the origin got more or fewer, and how many were hits.
func price(p pair) string {
	less, than := saved(p.secondHit.OriginRequests, p.always.OriginRequests), "fewer"
	if less < 0 {
		less, than = -less, "more"
	}
	return fmt.Sprintf("%s %s requests to the origin; hit ratio %s beside %s", percent(less), than, percent(p.secondHit.hitRatio()), percent(p.always.hitRatio()))
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
	b.WriteString("\n" + result(p))
	return b.String()
}

// table sets the counts of both proxies side by side.
func table(p pair) string {
	a, z := p.secondHit, p.always
	return tableRow("", "second-hit", "always") +
		tableRow("requests", humanize.Comma(a.Requests), humanize.Comma(z.Requests)) +
		tableRow("hit ratio", percent(a.hitRatio()), percent(z.hitRatio())) +
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

// result says what was saved and what that cost. The responses held back stand
// beside the regret, never alone: they are not the saving.
func result(p pair) string {
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
