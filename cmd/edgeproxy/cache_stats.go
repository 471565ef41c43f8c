package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"slices"
	"strings"

	"edgeproxy/internal/edge"
)

// statsText asks for the status, since the tiers and the window are together what the cache is.
func (t *runningTier) statsText(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	code, text, err := call(ctx, t.address, http.MethodGet, "/status", t.token, nil)
	switch {
	case err != nil:
		return "", t.inUse(err)
	case code != http.StatusOK:
		return "", errors.New(refusalOf(t.address, "/status", code, text).Error)
	}
	var s edge.Status
	if err := json.Unmarshal(text, &s); err != nil || s.Go == "" {
		return "", fmt.Errorf("%s: %s", t.address, notOurs)
	}
	return cacheScreen(&s), nil
}

// cacheScreen returns what a status says of the cache: its tiers, their evictions, the directories of the disk, and the window.
func cacheScreen(s *edge.Status) string {
	var b strings.Builder
	t := s.Requests.Totals
	fmt.Fprintf(&b, "up %s, hit ratio %s of requests, %s of bytes\n\n", uptime(s.Uptime), percent(t.HitRatio), percent(t.ByteHitRatio))
	tierLines(&b, s.Cache)
	evictionLines(&b, s.Cache)
	sizeLines(&b, s.Cache)
	directoryLines(&b, s.Cache.Disk)
	windowLines(&b, s.Filters)
	return strings.TrimSuffix(b.String(), "\n")
}

// evictionLines writes how many objects have left each tier, by cause.
func evictionLines(b *strings.Builder, c edge.CacheStatus) {
	rows := []string{"tier\tfull\thit of objects\treplaced\tpurged\tevicted, by cause"}
	for name, t := range tiersOf(&c) {
		var causes []string
		for _, cause := range slices.Sorted(maps.Keys(t.Evictions)) {
			if n := t.Evictions[cause]; n > 0 {
				causes = append(causes, fmt.Sprintf("%s %d", cause, n))
			}
		}
		rows = append(rows, fmt.Sprintf("%s\t%s\t%s\t%d\t%d\t%s", name, shareOf(t.Bytes, t.MaxBytes), shareOf(t.ObjectsHit, t.Objects), t.Replaced, t.Purged, orNone(strings.Join(causes, ", "))))
	}
	table(b, rows...)
}

// sizeLines writes how much has been evicted of which size, and how much of that was never hit.
func sizeLines(b *strings.Builder, c edge.CacheStatus) {
	rows := []string{"evicted of\tup to\tobjects\tnever hit\tshare\tbytes\tnever hit\tshare"}
	for name, t := range tiersOf(&c) {
		for _, e := range t.EvictedBySize {
			if e.Objects == 0 {
				continue
			}
			size := e.Size
			if e.UpTo > 0 {
				size = sizeOf(e.UpTo)
			}
			rows = append(rows, fmt.Sprintf("%s\t%s\t%d\t%d\t%s\t%s\t%s\t%s", name, size, e.Objects, e.NeverHitObjects, shareOf(e.NeverHitObjects, e.Objects),
				sizeOf(e.Bytes), sizeOf(e.NeverHitBytes), shareOf(e.NeverHitBytes, e.Bytes)))
		}
	}
	if len(rows) > 1 {
		table(b, rows...)
	}
}

// tiersOf returns the tiers that there are, by name.
func tiersOf(c *edge.CacheStatus) iter.Seq2[string, *edge.TierStatus] {
	return func(yield func(string, *edge.TierStatus) bool) {
		if !yield("memory", &c.TierStatus) || c.Stage != nil && !yield("stage", c.Stage) {
			return
		}
		if c.Disk != nil {
			yield("disk", &c.Disk.TierStatus)
		}
	}
}

func shareOf(part, whole int64) string { return percent(float64(part) / float64(max(whole, 1))) }

// directoryLines writes the directories of the disk tier.
func directoryLines(b *strings.Builder, d *edge.DiskStatus) {
	if d == nil {
		return
	}
	rows := []string{"directory\tobjects\tbytes\tof\tlive\thits\tmisses\twritten\twaiting\tindex\tdamaged\terrors"}
	for i := range d.Directories {
		v := &d.Directories[i]
		rows = append(rows, fmt.Sprintf("%s\t%d\t%s\t%s\t%s\t%d\t%d\t%s\t%s\t%s\t%d\t%d", quoteUnprintable(v.Path), v.Objects, sizeOf(v.Bytes), sizeOf(v.MaxBytes), sizeOf(v.LiveBytes),
			v.Hits+v.QueueHits, v.Misses, sizeOf(v.DeviceBytes), sizeOf(v.QueueBytes), sizeOf(v.IndexBytes), v.Damaged, v.ReadErrors+v.WriteErrors+v.NoSpace))
	}
	table(b, rows...)
}

// statsText is stats for people.
func (t stoppedTier) statsText(ctx context.Context) (string, error) {
	s, err := t.totals(ctx)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	table(&b, "disk, of a stopped proxy\t",
		fmt.Sprintf("objects\t%d", s.Objects), "bodies\t"+sizeOf(s.BodyBytes), "files\t"+sizeOf(s.Bytes),
		fmt.Sprintf("segments\t%d", s.Segments), fmt.Sprintf("unreadable\t%d", s.Unreadable))
	return strings.TrimSuffix(b.String(), "\n"), nil
}
