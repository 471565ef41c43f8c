package main

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/dustin/go-humanize"

	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/lab/command"
	"edgeproxy/internal/lab/trace"
)

const (
	minMaxBytes       = 1 << 20  // edgeproxy refuses a smaller cache.memory.max_bytes
	minMaxObjectBytes = 64 << 10 // so that a trace of small objects has no unusual limit
	defaultRate       = 4000
	defaultByteRate   = 150e6 // bytes a second that driver, proxy and origin can move on two cores
)

// edgeproxy's defaults for what the command line does not set. The driver only
// reports them.
const (
	generations          = 2
	secondHitRotateEvery = 30 * time.Minute // in a fixed window
	countingRotateEvery  = 6 * time.Hour
	fittedWindow         = "auto" // admission.….window: fitted to the cache
)

// plan is the options applied to the trace.
type plan struct {
	*options
	replay          *replay
	facts           trace.Facts
	maxBytes        int64
	maxObjectBytes  int64
	diskBytes       int64                // 0 = no disk
	diskObjectBytes int64                // the largest body there
	stageBytes      int64                // for policies that hold back; part of maxBytes
	rate            float64              // requests a second
	forecasts       map[string]*forecast // keys are policies; nil = no forecast
}

// setting is the settings of one policy, for the report.
type setting struct {
	policy                    string
	parameter                 float64 // 0 if the policy has none
	rotate                    string  // when sightings are forgotten, in words
	generations               int
	capacityBytes, stageBytes int64
	eviction                  string
}

func newPlan(o *options, t *replay) (*plan, error) {
	p := &plan{options: o, replay: t, facts: t.Facts(), rate: o.rate}
	p.maxBytes = o.capacity.of(p.facts.ChargedBytes())
	if p.maxBytes < minMaxBytes {
		return nil, command.Usagef("--capacity %s: that is %s here (the trace's unique bytes are %s), and edgeproxy takes no less than 1 MiB: raise --capacity or --limit",
			o.capacity.text, humanize.IBytes(uint64(p.maxBytes)), humanize.IBytes(uint64(p.facts.UniqueBytes)))
	}
	p.stageBytes = o.stage.of(p.maxBytes)
	if p.stageBytes > p.maxBytes/2 {
		return nil, command.Usagef("--stage %s: must be %s, here %s", o.stage.text, stageLimit, humanize.IBytes(uint64(p.maxBytes/2)))
	}
	quarter := (p.maxBytes - p.stageBytes) / 4 // edgeproxy refuses more
	p.maxObjectBytes = min(max(t.largest(), minMaxObjectBytes), quarter)
	if o.maxObjectBytes > quarter {
		return nil, command.Usagef("--max-object: edgeproxy takes at most a quarter of the capacity less the stage, here %s", humanize.IBytes(uint64(quarter)))
	}
	if o.maxObjectBytes > 0 {
		p.maxObjectBytes = o.maxObjectBytes
	}
	if err := p.planDisk(); err != nil {
		return nil, err
	}
	if p.rate == 0 {
		p.rate = sustainableRate(p.facts)
	}
	return p, nil
}

// sustainableRate returns the default rate. Two cores can sustain it for all three
// programs, so that the figures show the proxy and not a queue before it.
func sustainableRate(f trace.Facts) float64 {
	mean := float64(f.RequestBytes) / float64(f.Requests)
	return max(1, math.Floor(min(defaultRate, defaultByteRate/max(mean, 1))))
}

// edgeSettings returns the configuration of one policy's edgeproxy, without the
// addresses.
func (p *plan) edgeSettings(name string) edgeConfig {
	rule := p.rule(name)
	c := edgeConfig{rule: rule, maxBytes: p.maxBytes, maxObjectBytes: p.maxObjectBytes, diskBytes: p.diskBytes, diskObjects: p.diskObjectBytes}
	if rule.Policy.Remembers() {
		c.rotateEvery, c.filterCapacity = p.rotateEvery, p.filterCapacity
	}
	if rule.Policy.Chooses() {
		c.stageBytes = p.stageBytes
	}
	return c
}

// rule returns the rule of a policy that the options have checked.
func (p *plan) rule(name string) policy.Rule {
	value, said := p.parameters[name]
	r, err := policy.RuleOf(name, value)
	if err != nil {
		panic(err)
	}
	if param := r.Policy.Parameter(); param != nil && !said {
		r = param.In(r, param.Default)
	}
	return r
}

// setting returns the settings of one of edgeproxy's policies, for the report.
func (p *plan) setting(name string) setting {
	c := p.edgeSettings(name)
	s := setting{policy: name, parameter: c.rule.Value(), capacityBytes: c.maxBytes, stageBytes: c.stageBytes, eviction: "size-aware"}
	s.rotate, s.generations = p.rotation(c.rule.Policy)
	return s
}

// planned returns how long so many requests take at the rate.
func (p *plan) planned(requests int64) time.Duration {
	return time.Duration(float64(requests-1) / p.rate * float64(time.Second))
}

// rotation describes when a policy's filter rotates, and returns the number of its
// generations; "" and 0 for a policy without a filter. edgeproxy fits its window to
// the cache, unless --filter-capacity sets the keys of a generation.
func (p *plan) rotation(of policy.Policy) (rule string, gens int) {
	every := secondHitRotateEvery
	switch of.Memory() {
	case policy.Seen:
	case policy.Counted:
		every = countingRotateEvery
	case policy.NoMemory:
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
