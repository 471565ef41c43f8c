package config

import (
	"math"
	"strconv"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/cache"
)

// Warnings returns settings that are valid, but hardly as intended: trusted_proxies and purge.allow
// for every address, an admin listener that other machines reach, routes that no request reaches,
// servers whose certificates are not verified, filters that rotate only when full, a warm_up_below
// that a full cache may not reach, settings at the top that apply to no route, settings for an origin
// in routes with redirect or respond, access that a slash avoids, stars in paths, values that look like
// regular expressions, lifetimes that cookies keep from applying, cookies that a route cannot strip, and an optimise that the eviction
// takes no notice of.
func (c *Config) Warnings() []Warning {
	var out []Warning
	warn := func(path, text string) {
		p, exact := c.src.locate(path)
		w := Warning{File: c.src.fileOf(p), Line: p.line, Column: p.column, Path: path, Text: text}
		if exact && p.scalar {
			w.Value = shown(p.text)
		}
		out = append(out, w)
	}
	out = append(out, c.src.notices...)
	c.warnOfAdmin(warn)
	c.warnOfTrust(warn)
	index := indexRoutes(c.Routes)
	c.warnOfUnreached(index, warn)
	for _, o := range c.Origins {
		if o.TLS.InsecureSkipVerify {
			warn(child(child(child("origins", o.Name), "tls"), "insecure_skip_verify"),
				"any certificate is accepted: an attacker on the path can answer in the origin's place")
		}
	}
	c.warnOfFilters(warn)
	c.warnOfPurges(warn)
	c.warnOfRates(warn)
	c.warnOfInherited(warn)
	c.warnOfAnswers(warn)
	c.warnOfAccess(index, warn)
	c.warnOfStars(warn)
	c.warnOfExpressions(warn)
	c.warnOfCookies(warn)
	c.warnOfOptimise(warn)
	return onceForAll(out, func(w Warning) (string, spot) { return w.Path, spot{w.File, w.Line, w.Column, w.Text} })
}

// warnOfOptimise warns of an aim that the eviction takes no notice of.
func (c *Config) warnOfOptimise(warn func(path, text string)) {
	if m := &c.Cache.Memory; m.Optimise != cache.Balanced && m.Eviction != cache.SizeAware {
		warn("cache.memory.optimise", "has no effect: it is for eviction: "+cache.SizeAware.String())
	}
}

// warnOfUnreached warns of routes that no request reaches, and of settings that their match rules out.
func (c *Config) warnOfUnreached(index *routeIndex, warn func(path, text string)) {
	for i := range c.Routes {
		late := &c.Routes[i]
		if at := descendant(c.Routes[i].path, "cache.no_vary_search"); len(late.Match.Fields)+len(late.Match.Query) > 0 && late.ownCache.NoVarySearch && c.src.given(at) {
			warn(at, "has no effect: a route with match.headers or match.query shares its paths with other routes, so its responses may not decide for them")
		}
		for _, j := range index.covering(&late.Match) {
			if j >= i {
				break
			}
			if early := &c.Routes[j]; early.Match.Covers(&late.Match) {
				warn(c.Routes[i].path, "never reached: "+c.Routes[j].path+" ("+early.Name+") matches all that it matches")
				break
			}
		}
	}
}

// warnOfFilters warns of a state that no filter has, of filters that rotate only when full, and of a warm_up_below that a full
// cache may not reach.
func (c *Config) warnOfFilters(warn func(path, text string)) {
	if c.Admission.State != "" && !c.usesAny(policy.Policy.Remembers) {
		warn(stateFile, "has no effect"+noRouteOf(policy.Policy.Remembers)+". The file stays as it is")
	}
	for _, f := range []struct {
		path   string
		policy policy.Policy
		window *admission.FilterOptions
	}{
		{"admission.second_hit", policy.SecondHit, &c.Admission.SecondHit},
		{"admission.counting", policy.Counting, &c.Admission.Counting.Window},
	} {
		if !bool(f.window.Fitted) && f.window.RotateEvery == 0 && c.uses(f.policy) {
			warn(child(f.path, "rotate_every"), "rotates only when full: a key is remembered until "+
				strconv.FormatInt(f.window.Capacity*int64(f.window.Generations-1), 10)+" other keys or more were requested, however long that takes")
		}
	}
	if sure := c.guaranteedFill(); c.Admission.WarmUpBelow > sure {
		warn(warmUpBelow, "a full cache may stay below this share of its size, and then everything is stored: must be at most "+
			strconv.FormatFloat(sure, 'f', 2, 64)+", or a smaller max_object_bytes")
	}
}

// warnOfPurges warns if every address may purge.
func (c *Config) warnOfPurges(warn func(path, text string)) {
	for i, n := range c.Purge.Allow {
		if n.Bits() == 0 && c.Purge.TokenFile == "" {
			warn(item("purge.allow", i), "lets everybody purge: any client may empty the cache, host by host")
		}
	}
}

// warnOfTrust warns of listeners that trust every address.
func (c *Config) warnOfTrust(warn func(path, text string)) {
	for i, l := range c.Listen {
		for j, n := range l.TrustedProxies {
			if n.Bits() == 0 {
				warn(item(child(item("listen", i), "trusted_proxies"), j), "trusts everybody: any client may choose its address, scheme and host")
			}
		}
	}
}

// guaranteedFill is the share of its size that every full memory tier reaches, rounded down to
// hundredths: 1/32 of it is reserved for variants, and in each of its two parts room for one
// object of the largest size may be free.
func (c *Config) guaranteedFill() float64 {
	m := c.Cache.Memory
	free := 1.0/32 + 2*float64(m.MaxObjectBytes)/float64(m.MaxBytes-c.Stage())
	return math.Floor(100*max(1-free, 0)) / 100
}
