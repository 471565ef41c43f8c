package simulate

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"edgeproxy/internal/lab/model"
)

// WriteText writes the report for a person: the facts of the trace, whose name is name,
// a table for each group, and the recommendations.
func (r *Report) WriteText(w io.Writer, name string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "trace     %s: %s\nsettings  %s\n", name, r.facts(), r.settings())
	if note := r.fleetNote(); note != "" {
		fmt.Fprintf(&b, "fleet     %s\n", note)
	}
	for _, warning := range r.Warnings {
		fmt.Fprintf(&b, "warning   %s\n", warning)
	}
	columns := r.columns()
	for i := range r.Groups {
		g := &r.Groups[i]
		fmt.Fprintf(&b, "\ncapacity  %s\n", g.title())
		writeRows(&b, columns, g.rows(columns))
	}
	b.WriteString("\n" + r.legend())
	for _, a := range r.Advice {
		fmt.Fprintf(&b, "\nrecommended at %s: %s\n\n%s", sizes(a.CapacityBytes, a.DiskBytes), a.Why, a.YAML)
	}
	for _, u := range r.Unadvised {
		fmt.Fprintf(&b, "\nnothing is recommended at %s: %s.\n", sizes(u.CapacityBytes, u.DiskBytes), u.Why)
	}
	fmt.Fprintf(&b, "\nspeed     %s\n", r.speed())
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// facts says what was read.
func (r *Report) facts() string {
	t := &r.Trace
	heads := ""
	if t.Heads > 0 {
		heads = fmt.Sprintf(" (%s)", counted(t.Heads, "HEAD"))
	}
	out := fmt.Sprintf("%s%s for %s, %s of them asked for once; %s asked for, %s unique",
		counted(t.Requests, "request"), heads, counted(t.Objects, "object"), percent(ratio(t.OneHitObjects, t.Objects)),
		size(t.RequestBytes), size(t.UniqueBytes))
	if r.Span > 0 {
		out += ", within " + shortDuration(roundTime(r.Span))
	}
	return out + fmt.Sprintf("; %s, %s skipped", counted(t.BadLines, "bad line"), humanize.Comma(t.Skipped))
}

// settings says what was tried. Values that differ have a column instead.
func (r *Report) settings() string {
	n, window := 0, (*Result)(nil)
	for i := range r.Groups {
		results := r.Groups[i].Results
		n += len(results)
		for j := range results {
			if results[j].windowed {
				window = &results[j]
			}
		}
	}
	out := humanize.Comma(int64(n))
	switch {
	case window == nil:
		return out
	case window.Exact:
		out += ", sightings in exact sets"
	case !r.vary(rateCell):
		out += ", false positive rate " + rateCell(window)
	}
	if window.Generations > 0 && !r.vary(generationsCell) {
		out += ", " + strconv.Itoa(window.Generations) + " generations"
	}
	return out
}

// title says what the settings of the group have in common.
func (g *Group) title() string {
	share := ""
	if g.CapacityShare != "" {
		share = g.CapacityShare + " of the unique bytes, "
	}
	if g.DiskBytes > 0 {
		return g.tiers(share)
	}
	return fmt.Sprintf("%s bytes (%s%s, 1c = %s of mean size), objects up to %s, eviction %s",
		humanize.Comma(g.CapacityBytes), share, size(g.CapacityBytes), counted(g.CachedObjects, "object"), size(g.MaxObjectBytes), g.Eviction)
}

// tiers is title with a disk.
func (g *Group) tiers(share string) string {
	diskShare := ""
	if g.DiskShare != "" {
		diskShare = g.DiskShare + " of the unique bytes, "
	}
	return fmt.Sprintf("%s bytes of memory (%s%s), objects up to %s, eviction %s; %s bytes of disk (%s%s, 1c = %s of mean size), objects up to %s",
		humanize.Comma(g.CapacityBytes), share, size(g.CapacityBytes), size(g.MaxObjectBytes), g.Eviction,
		humanize.Comma(g.DiskBytes), diskShare, size(g.DiskBytes), counted(g.CachedObjects, "object"), size(g.DiskObject))
}

// largest returns the bytes of the largest object that is stored anywhere.
func (g *Group) largest() int64 { return max(g.MaxObjectBytes, g.DiskObject) }

// legend explains the columns.
func (r *Report) legend() string {
	var b strings.Builder
	b.WriteString("* is on the front: nothing in its table has both fewer writes and more byte hits.\n" +
		"Avoided writes and extra origin bytes are against always; regret is what was held back and fetched again.\n")
	if r.hasDisk() {
		b.WriteString("With a disk, admission lets in what is written there: writes are those, and written is their bodies. To disk is all that the device takes,\n" +
			"with heads, padding and what is written again to be kept (again); less is that against always; factor is to disk by written.\n")
	}
	staged := func(r Result) bool { return r.StageBytes > 0 }
	if slices.ContainsFunc(r.Groups, func(g Group) bool { return slices.ContainsFunc(g.Results, staged) }) {
		b.WriteString("Writes are those into the main part: what enters the stage, which is in memory, is none.\n")
		b.WriteString(r.lessRoom())
	}
	for i := range r.Groups {
		b.WriteString(r.Groups[i].chance())
	}
	if slices.ContainsFunc(r.Groups, func(g Group) bool { return g.Eviction == string(model.Clairvoyant) }) {
		b.WriteString("Clairvoyant knows the future and decides itself what it stores, whatever the policy. Its hits are about the most that any cache could have;\n" +
			"some may have more byte hits. It is there to compare with.\n")
	}
	b.WriteString("Recommended is " + r.Goal.Rule() + " (--goal " + r.Goal.String() + ").\nA recommendation takes " + Evidence + "; what falls short of that is thin.\n")
	return b.String()
}

// lessRoom returns a line if a stage lowers the limit of objects.
func (r *Report) lessRoom() string {
	for i := range r.Groups {
		for j := range r.Groups[i].Results {
			if r.Groups[i].Results[j].MaxObjectBytes < r.Groups[i].MaxObjectBytes {
				return "With a stage the largest object is a quarter of the rest, which is less than without one.\n"
			}
		}
	}
	return ""
}

// chance returns a line on how much the group's results vary between runs.
func (g *Group) chance() string {
	if g.Spread == nil {
		return ""
	}
	s := g.Spread
	return fmt.Sprintf("%s at %s evicts by chance, so no two runs are the same: in %d of always the hit ratios differed by up to %.2f points, "+
		"those by bytes by %.2f, and the writes by %.1f%%.\n",
		g.Eviction, sizes(g.CapacityBytes, g.DiskBytes), s.Runs, 100*s.HitRatio, 100*s.ByteHitRatio, 100*s.Writes)
}

// speed says how fast the settings were replayed, for each eviction.
func (r *Report) speed() string {
	var evictions []string
	slowest, fastest := map[string]float64{}, map[string]float64{}
	for i := range r.Groups {
		for _, res := range r.Groups[i].Results {
			e, v := res.Eviction, res.RequestsPerSecond
			if _, known := slowest[e]; !known {
				evictions = append(evictions, e)
				slowest[e] = v
			}
			slowest[e], fastest[e] = min(slowest[e], v), max(fastest[e], v)
		}
	}
	parts := make([]string, len(evictions))
	for i, e := range evictions {
		low, high := millions(slowest[e]), millions(fastest[e])
		parts[i] = e + " " + low
		if high != low {
			parts[i] += " to " + high
		}
	}
	return strings.Join(parts, ", ") + " million requests a second for each setting, on one core"
}

func millions(n float64) string { return strconv.FormatFloat(n/1e6, 'f', 1, 64) }
