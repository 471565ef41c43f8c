package main

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/dustin/go-humanize"

	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/lab/figures"
)

// column is one column of the table. cell may use the row of always.
type column struct {
	name string
	cell func(r, always *result) string
}

var firstColumns = [...]column{
	{"policy", func(r, _ *result) string { return r.name() }},
	{"requests", func(r, _ *result) string { return humanize.Comma(r.Requests) }},
	{"hits", func(r, _ *result) string { return percent(r.HitRatio) }},
	{"byte hits", func(r, _ *result) string { return percent(r.ByteHitRatio) }},
	{"writes", func(r, _ *result) string { return humanize.Comma(r.Writes) }},
	{"written", func(r, _ *result) string { return size(r.WriteBytes) }},
	{"avoided", func(r, always *result) string { return avoided(r.WritesAvoided, always.Writes, humanize.Comma) }},
	{"bytes avoided", func(r, always *result) string { return avoided(r.WriteBytesAvoided, always.WriteBytes, size) }},
}

// stageColumns are shown if a policy has a stage.
var stageColumns = [...]column{
	{"stage writes", func(r, _ *result) string { return humanize.Comma(r.StageWrites) }},
	{"promoted", func(r, _ *result) string { return humanize.Comma(r.Promotions) }},
}

// diskColumns are shown if the caches are on a disk.
var diskColumns = [...]column{
	{"to disk", func(r, _ *result) string { return ifKnownSize(r.DeviceBytes) }},
	{"less", lessToDisk},
}

// foretoldColumns are shown if there is a forecast.
var foretoldColumns = [...]column{
	{"forecast: byte hits", func(r, _ *result) string {
		return ifForetold(r, func(f *forecast) string { return percent(f.ByteHitRatio) })
	}},
	{"to disk", func(r, _ *result) string {
		return ifForetold(r, func(f *forecast) string { return size(f.DeviceBytes) })
	}},
	{"less", lessForetold},
}

var heldColumns = [...]column{
	{"held back", func(r, _ *result) string { return r.ifMeasured(r.HeldBack) }},
	{"regret", func(r, _ *result) string { return r.ifMeasured(r.HeldBack - r.saved()) }},
	{"saved", func(r, _ *result) string { return r.ifMeasured(r.saved()) }},
	{"evictions", func(r, _ *result) string { return ifKnown(r.Evictions) }},
}

// outerColumns are about the origin and the clients.
var outerColumns = [...]column{
	{"origin requests", func(r, _ *result) string { return humanize.Comma(r.OriginRequests) }},
	{"origin bytes", func(r, _ *result) string { return size(r.OriginBytes) }},
	{"p50", func(r, _ *result) string { return latency(r.P50Seconds) }},
	{"p99", func(r, _ *result) string { return latency(r.P99Seconds) }},
	{"late", func(r, _ *result) string { return humanize.Comma(r.LateSends) }},
	{"errors", func(r, _ *result) string { return humanize.Comma(r.Errors) }},
}

// innerColumns are about the cache.
func (d *document) innerColumns() []column {
	var stage, disk []column
	if d.Run.StageBytes > 0 {
		stage = stageColumns[:]
	}
	if d.Run.DiskBytes > 0 {
		disk = diskColumns[:]
	}
	if d.forecasts != nil {
		disk = slices.Concat(disk, foretoldColumns[:])
	}
	return slices.Concat(firstColumns[:], disk, stage, heldColumns[:])
}

// rows returns the column heads and a row for each policy.
func (d *document) rows(columns []column) (heads []string, rows [][]string) {
	for _, c := range columns {
		heads = append(heads, c.name)
	}
	for i := range d.Results {
		row := make([]string, len(columns))
		for j, c := range columns {
			row[j] = c.cell(&d.Results[i], &d.Results[0])
		}
		rows = append(rows, row)
	}
	return heads, rows
}

// writeTable writes the report as text: the trace, the settings, and a row for each
// policy.
func (d *document) writeTable(w io.Writer) error {
	t := figures.Table{Right: true, Gap: 2, Text: fmt.Sprintf("trace     %s\nsettings  %s\n\n", d.traceLine(), d.settingsLine())}
	heads, rows := d.rows(append(d.innerColumns(), outerColumns[:]...))
	for _, row := range append([][]string{heads}, rows...) {
		t.Row(row...)
	}
	err := t.Write(w)
	for i, bar := range d.Bars {
		if err == nil {
			_, err = fmt.Fprintf(w, "%s%s\n", [...]string{"\nbars      ", "          "}[min(i, 1)], bar)
		}
	}
	return err
}

func (d *document) traceLine() string {
	t, r := &d.Trace, &d.Run
	return fmt.Sprintf("%s: %s requests for %s objects, %s of them asked for once; %s asked for, %s unique; %s bad lines, %s skipped, %s targets generated",
		d.name, humanize.Comma(t.Requests), humanize.Comma(t.Objects), percent(ratio(t.OneHitObjects, t.Objects)),
		size(t.RequestBytes), size(t.UniqueBytes),
		humanize.Comma(t.BadLines), humanize.Comma(r.SkippedLines), humanize.Comma(int64(r.MappedObjects)))
}

func (d *document) settingsLine() string {
	r := &d.Run
	stage := ""
	if r.StageBytes > 0 {
		stage = fmt.Sprintf("stage_bytes %s (%s) of them, ", humanize.Comma(r.StageBytes), size(r.StageBytes))
	}
	disk := ""
	if r.DiskBytes > 0 {
		disk = fmt.Sprintf("disk %s (%s; %s), ", humanize.Comma(r.DiskBytes), size(r.DiskBytes), r.disk)
	}
	runs := ""
	if r.Runs > 1 {
		runs = fmt.Sprintf(", means of %d runs", r.Runs)
	}
	return fmt.Sprintf("max_bytes %s (%s; %s), %s%smax_object_bytes %s (%s), %s requests/s, %d connections, seed %d%s",
		humanize.Comma(r.MaxBytes), size(r.MaxBytes), r.capacity, stage, disk, humanize.Comma(r.MaxObjectBytes), size(r.MaxObjectBytes),
		humanize.Commaf(r.Rate), r.Connections, r.Seed, runs)
}

func (r *result) name() string {
	rule, err := policy.RuleOf(r.Policy, r.Parameter)
	if err != nil {
		return r.Policy // a baseline's name
	}
	return rule.Name()
}

// ifMeasured formats a count that has a meaning only if regret is measured. Regret is
// never counted under a policy that holds back and remembers no keys.
func (r *result) ifMeasured(n int64) string {
	p, err := policy.Parse(r.Policy)
	if r.Regret == nil || err == nil && p.HoldsBack() != reason.None && !p.Remembers() {
		return "-"
	}
	return humanize.Comma(n)
}

func ifKnown(n *int64) string {
	if n == nil {
		return "-"
	}
	return humanize.Comma(*n)
}

func ifKnownSize(n *int64) string {
	if n == nil {
		return "-"
	}
	return size(*n)
}

// lessToDisk formats how much less a result wrote to the device than always.
func lessToDisk(r, always *result) string {
	if r.DeviceBytes == nil || always.DeviceBytes == nil || *always.DeviceBytes == 0 {
		return "-"
	}
	return percent(1 - ratio(*r.DeviceBytes, *always.DeviceBytes))
}

func ifForetold(r *result, show func(*forecast) string) string {
	if r.Foretold == nil {
		return "-"
	}
	return show(r.Foretold)
}

// lessForetold is lessToDisk by the forecast.
func lessForetold(r, always *result) string {
	if r.Foretold == nil || always.Foretold == nil || always.Foretold.DeviceBytes == 0 {
		return "-"
	}
	return percent(1 - ratio(r.Foretold.DeviceBytes, always.Foretold.DeviceBytes))
}

func percent(ratio float64) string { return fmt.Sprintf("%.2f%%", 100*ratio) }

func size(bytes int64) string {
	if bytes < 0 {
		return "-" + humanize.IBytes(uint64(-bytes))
	}
	return humanize.IBytes(uint64(bytes))
}

// avoided formats a saving with its share of always' figure.
func avoided(n, always int64, show func(int64) string) string {
	if always == 0 {
		return show(n)
	}
	return fmt.Sprintf("%s (%.1f%%)", show(n), 100*float64(n)/float64(always))
}

func latency(seconds float64) string {
	return time.Duration(seconds * float64(time.Second)).Round(10 * time.Microsecond).String()
}
