package main

import (
	"fmt"
)

// counts is what a proxy counted: requests, responses and bytes of bodies, since
// its start or between two scrapes. The filter is as it was at the last scrape.
type counts struct {
	requests, hits, passed, failed int64 // failed: answered with the proxy's own errors
	responseBytes, hitBytes        int64
	failedBytes                    int64
	writes, writeBytes             int64 // into the tier that admission guards
	stageWrites, stageWriteBytes   int64 // into the stage, at first sightings
	promotions                     int64 // from the stage; they are writes too
	heldBack, heldBackBytes        int64
	regret, regretBytes            *int64 // nil = not measured
	originRequests, originBytes    int64
	evictions                      int64
	evictionsUnknown               bool
	filter                         *filterState // nil = none
}

// filterState is a policy's filter at one moment. Ratios are in [0, 1].
type filterState struct {
	fills []float64 // share of the bits or counters that are set; 0 = the newest generation

	// False positive ratios: expected follows from the current fill, measured is that
	// of a recent sample of keys, and expectedOfSample is the expected one of the same
	// sample. The last two are nil if nothing is measured.
	expected                   float64
	expectedOfSample, measured *float64
}

// since returns what was counted after before. The filter stays as it is in c.
func (c counts) since(before counts) counts {
	c.requests -= before.requests
	c.hits -= before.hits
	c.passed -= before.passed
	c.failed -= before.failed
	c.responseBytes -= before.responseBytes
	c.hitBytes -= before.hitBytes
	c.failedBytes -= before.failedBytes
	c.writes -= before.writes
	c.writeBytes -= before.writeBytes
	c.stageWrites -= before.stageWrites
	c.stageWriteBytes -= before.stageWriteBytes
	c.promotions -= before.promotions
	c.heldBack -= before.heldBack
	c.heldBackBytes -= before.heldBackBytes
	c.regret = less(c.regret, before.regret)
	c.regretBytes = less(c.regretBytes, before.regretBytes)
	c.originRequests -= before.originRequests
	c.originBytes -= before.originBytes
	c.evictions -= before.evictions
	return c
}

func less(n, before *int64) *int64 {
	if n == nil || before == nil {
		return n
	}
	d := *n - *before
	return &d
}

// unchangedSince reports whether nothing was counted after last.
func (c *counts) unchangedSince(last *counts) bool {
	return c.requests == last.requests && c.responseBytes == last.responseBytes && c.writes == last.writes &&
		c.originRequests == last.originRequests && c.originBytes == last.originBytes
}

// hitRatio and byteHitRatio are in [0, 1]. They leave out the proxy's own errors.
func (c *counts) hitRatio() float64 { return ratio(c.hits, c.requests-c.failed) }

func (c *counts) byteHitRatio() float64 { return ratio(c.hitBytes, c.responseBytes-c.failedBytes) }

func (c *counts) measuredFalsePositives() *float64 {
	if c.filter == nil {
		return nil
	}
	return c.filter.measured
}

// knownEvictions returns nil if the proxy does not count evictions.
func (c *counts) knownEvictions() *int64 {
	if c.evictionsUnknown {
		return nil
	}
	n := c.evictions
	return &n
}

func ratio(part, whole int64) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// disagreements compares the counts of the proxy called name with those of the
// driver and the origin. It returns a sentence for each difference.
func (c *counts) disagreements(name string, t *tally, o *origin) (out []string) {
	differ := func(what string, proxy, seen int64, by string) {
		if proxy != seen {
			out = append(out, fmt.Sprintf("%s counted %d %s, %s %d", name, proxy, what, by, seen))
		}
	}
	differ("requests", c.requests, t.requests(), "the driver sent")
	differ("response bytes", c.responseBytes, t.bytes, "the driver received")
	differ("origin requests", c.originRequests, o.requests.Load(), "the origin served")
	differ("origin bytes", c.originBytes, o.bytes.Load(), "the origin sent")
	return out
}
