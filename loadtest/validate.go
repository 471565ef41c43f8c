package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/lab/trace"
)

// validate reports all faults of the options at once. given holds the names of the
// flags on the command line.
func (o *options) validate(given map[string]bool) error {
	var errs []error
	want := func(ok bool, flag, text string) {
		if !ok {
			errs = append(errs, fmt.Errorf("--%s: must be %s", flag, text))
		}
	}
	want(o.trace != "", "trace", "a file of requests, zipf:KEY=V,... or popularity:FILE,KEY=V,...")
	want(o.format == "" || slices.Contains(trace.Formats(), o.format), "format", strings.Join(trace.Formats(), ", "))
	want(o.limit >= 0, "limit", "0 or more lines")
	want(!given["rate"] || o.rate >= 0.1 && o.rate <= 1e6, "rate", "0.1 to 1000000 requests a second")
	want(o.connections >= 1 && o.connections <= maxConnections, "connections", fmt.Sprintf("1 to %d", maxConnections))
	want(o.runs >= 1 && o.runs <= maxRuns, "runs", fmt.Sprintf("1 to %d", maxRuns))
	want(o.maxAge >= time.Second && o.maxAge%time.Second == 0, "max-age", "whole seconds, at least 1s")
	want(o.timeout > 0, "timeout", "a duration above 0s")
	for name, v := range o.parameters {
		rule, err := policy.RuleOf(name, v)
		want(err == nil && rule.Check() == nil, rule.Policy.Parameter().Flag(), rule.Policy.Parameter().Want())
	}
	want(!given["filter-capacity"] || o.filterCapacity > 0, "filter-capacity", "more than 0 keys")
	want(baselinesWanted(o.baseline), "baselines", "auto, all, none, or a list of "+strings.Join(knownBaselines, " and "))
	want(canCreateFile(o.html), "html", "a file in an existing folder")
	want(canCreateFile(o.jsonFile), "json-file", "a file in an existing folder")
	want(o.stage.share <= maxStageShare, "stage", stageLimit)
	want(o.minSaved >= 0 && o.minSaved <= 1, "min-saved", "a share from 0 to 1")
	return errors.Join(append(errs, o.checkNeeds(given)...)...)
}

// canCreateFile reports whether a file can be at path. It is checked early, because the
// file is written after a long run. "" is no file.
func canCreateFile(path string) bool {
	if path == "" {
		return true
	}
	folder, err := os.Stat(filepath.Dir(path))
	file, fileErr := os.Stat(path)
	return err == nil && folder.IsDir() && (fileErr != nil || !file.IsDir())
}

// checkNeeds refuses a setting of a policy that is not run, which would have no
// effect.
func (o *options) checkNeeds(given map[string]bool) (errs []error) {
	need := func(flag string, policies ...string) {
		runs := func(p string) bool { return slices.Contains(o.policies, p) }
		if given[flag] && !slices.ContainsFunc(policies, runs) {
			errs = append(errs, fmt.Errorf("--%s: needs %s in --policies", flag, strings.Join(policies, " or ")))
		}
	}
	for _, p := range policy.All() {
		if param := p.Parameter(); param != nil {
			need(param.Flag(), p.String())
		}
	}
	need("rotate-every", policy.Names(policy.Policy.Remembers)...)
	need("filter-capacity", policy.Names(policy.Policy.Remembers)...)
	need("stage", policy.Names(policy.Policy.Chooses)...)
	need("min-saved", policySecondHit)
	need("min-less", policySecondHit)
	need("max-loss", policySecondHit)
	if o.disk == (amount{}) && given["min-less"] {
		errs = append(errs, errors.New("--min-less: needs --disk"))
	}
	if given["max-off"] && (o.disk == (amount{}) || o.rotateEvery != nil || o.filterCapacity > 0) {
		errs = append(errs, errors.New("--max-off: needs --disk, and neither --rotate-every nor --filter-capacity, for which there is no forecast"))
	}
	return errs
}
