package main

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/dustin/go-humanize"

	"edgeproxy/internal/trace"
)

const (
	minMaxBytes       = 1 << 20  // edgeproxy refuses a smaller cache.memory.max_bytes
	minMaxObjectBytes = 64 << 10 // below it a small trace would run under an odd limit
	defaultRate       = 4000
	defaultByteRate   = 150e6 // bytes a second that two cores carry for driver, proxy and origin
)

// edgeproxy's defaults where the command line says nothing; the driver only
// reports them.
const (
	defaultMoreThan      = 4
	generations          = 2
	secondHitRotateEvery = 30 * time.Minute // of a window that is fixed
	countingRotateEvery  = 6 * time.Hour
	fittedWindow         = "auto" // admission.….window: fits what the cache holds
)

// plan is a run in numbers: the options applied to the trace.
type plan struct {
	*options
	replay         *replay
	facts          trace.Facts
	maxBytes       int64
	maxObjectBytes int64
	stageBytes     int64   // of the policies that hold back; part of maxBytes
	rate           float64 // requests a second
}

// setting is how the report names what one policy ran with.
type setting struct {
	policy                    string
	moreThan                  int    // counting only
	rotate                    string // when sightings are forgotten, in words
	generations               int
	capacityBytes, stageBytes int64
	eviction                  string
}

func newPlan(o *options, t *replay) (*plan, error) {
	p := &plan{options: o, replay: t, facts: t.Facts(), rate: o.rate}
	p.maxBytes = o.capacity.of(p.facts.ChargedBytes())
	if p.maxBytes < minMaxBytes {
		return nil, usagef("--capacity %s: that is %s here (the trace's unique bytes are %s), and edgeproxy takes no less than 1 MiB: raise --capacity or --limit",
			o.capacity.text, humanize.IBytes(uint64(p.maxBytes)), humanize.IBytes(uint64(p.facts.UniqueBytes)))
	}
	p.stageBytes = o.stage.of(p.maxBytes)
	if p.stageBytes > p.maxBytes/2 {
		return nil, usagef("--stage %s: %w, here %s", o.stage.text, errStage, humanize.IBytes(uint64(p.maxBytes/2)))
	}
	quarter := (p.maxBytes - p.stageBytes) / 4 // edgeproxy refuses more
	p.maxObjectBytes = min(max(t.largest(), minMaxObjectBytes), quarter)
	if o.maxObjectBytes > quarter {
		return nil, usagef("--max-object: edgeproxy takes at most a quarter of the capacity less the stage, here %s", humanize.IBytes(uint64(quarter)))
	}
	if o.maxObjectBytes > 0 {
		p.maxObjectBytes = o.maxObjectBytes
	}
	if p.rate == 0 {
		p.rate = sustainableRate(p.facts)
	}
	return p, nil
}

// sustainableRate is the default rate: one that two cores carry for all three
// programs, so that the figures show the proxy and not the queue before it.
func sustainableRate(f trace.Facts) float64 {
	mean := float64(f.RequestBytes) / float64(f.Requests)
	return max(1, math.Floor(min(defaultRate, defaultByteRate/max(mean, 1))))
}

// edgeSettings returns the configuration of one policy's edgeproxy, without the
// addresses.
func (p *plan) edgeSettings(policy string) edgeConfig {
	c := edgeConfig{policy: policy, maxBytes: p.maxBytes, maxObjectBytes: p.maxObjectBytes}
	switch policy {
	case policyCounting:
		c.moreThan = defaultMoreThan
		if p.moreThan > 0 {
			c.moreThan = p.moreThan
		}
		fallthrough
	case policySecondHit:
		c.rotateEvery, c.filterCapacity, c.stageBytes = p.rotateEvery, p.filterCapacity, p.stageBytes
	}
	return c
}

// setting returns what the report says of a policy of edgeproxy.
func (p *plan) setting(policy string) setting {
	c := p.edgeSettings(policy)
	s := setting{policy: policy, moreThan: c.moreThan, capacityBytes: c.maxBytes, stageBytes: c.stageBytes, eviction: "ristretto"}
	s.rotate, s.generations = p.rotation(policy)
	return s
}

// planned is how long so many requests take at the rate.
func (p *plan) planned(requests int64) time.Duration {
	return time.Duration(float64(requests-1) / p.rate * float64(time.Second))
}

// rotation says in words when the filters of a policy forget, and how many
// generations they have; "" and 0 for a policy without filters. edgeproxy fits its
// window to the cache, unless it is told how many keys a generation holds.
func (p *plan) rotation(policy string) (rule string, gens int) {
	every := secondHitRotateEvery
	switch policy {
	case policySecondHit:
	case policyCounting:
		every = countingRotateEvery
	default:
		return "", 0
	}
	if p.rotateEvery != nil {
		every = *p.rotateEvery
	}
	if p.filterCapacity == 0 {
		if p.rotateEvery == nil || every == 0 {
			return fittedWindow, generations
		}
		return fmt.Sprintf("%s, every %s at the latest", fittedWindow, every), generations
	}
	rule = "at " + strconv.FormatInt(p.filterCapacity, 10) + " keys"
	if every > 0 {
		rule = fmt.Sprintf("every %s, or %s", every, rule)
	}
	return rule, generations
}
