package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"edgeproxy/internal/lab/peers"
)

// The values of --baselines, and the proxies that a list of them may name.
const (
	baselinesAuto = "auto" // with --html, those that are installed
	baselinesAll  = "all"  // all that are installed
	baselinesNone = "none"

	baselineNginx   = "nginx"
	baselineTraffic = "trafficserver"
)

var knownBaselines = []string{baselineNginx, baselineTraffic}

// nginxMinUses are the values of proxy_cache_min_uses that nginx runs with: 1
// stores like always, 2 like second-hit.
var nginxMinUses = [...]int{1, 2}

// baselinesWanted reports whether s is a value of --baselines.
func baselinesWanted(s string) bool {
	if slices.Contains([]string{baselinesAuto, baselinesAll, baselinesNone}, s) {
		return true
	}
	for name := range strings.SplitSeq(s, ",") {
		if !slices.Contains(knownBaselines, name) {
			return false
		}
	}
	return true
}

// baselines returns the runs of the proxies that edgeproxy is compared with. One that
// is not installed is left out, with a note on stderr. files is a folder for their files.
func (p *plan) baselines(ctx context.Context, files string, stderr io.Writer) (out []*policyRun) {
	wanted := strings.Split(p.baseline, ",")
	switch {
	case p.baseline == baselinesNone || p.baseline == baselinesAuto && p.html == "":
		return nil
	case p.baseline == baselinesAuto || p.baseline == baselinesAll:
		wanted = knownBaselines
	}
	for _, name := range knownBaselines {
		if !slices.Contains(wanted, name) {
			continue
		}
		runs, err := p.nginxRuns, error(nil)
		if name == baselineTraffic {
			runs = p.trafficRuns
		}
		var more []*policyRun
		if more, err = runs(ctx, files, stderr); err != nil {
			fmt.Fprintf(stderr, "note: no %s, its rows are left out: %v\n", name, err)
		}
		out = append(out, more...)
	}
	return out
}

// nginxRuns returns a run of nginx for each of nginxMinUses.
func (p *plan) nginxRuns(ctx context.Context, files string, stderr io.Writer) (out []*policyRun, err error) {
	program, err := peers.Find(cmp.Or(p.nginx, "nginx"))
	if err != nil {
		return nil, err
	}
	version := nginxVersion(ctx, program)
	memory, files := p.cacheFolder(files), p.serverFolder(files)
	for _, minUses := range nginxMinUses {
		c := nginxConfig{
			minUses: minUses, maxBytes: p.cacheBytes(), keys: p.facts.Objects, memory: memory,
		}
		s := p.baselineSetting("nginx-min-uses-"+strconv.Itoa(minUses), "idle for "+nginxInactive.String(), "lru")
		r := p.baselineRun(s, version, memory, stderr)
		r.start = func(ctx context.Context, o *origin) (proxy, error) { return startNginx(ctx, program, files, c, o) }
		out = append(out, r)
	}
	return out, nil
}

// trafficRuns returns a run of Traffic Server that stores on the second request.
func (p *plan) trafficRuns(ctx context.Context, files string, stderr io.Writer) ([]*policyRun, error) {
	if p.cacheBytes() < minTrafficBytes {
		return nil, fmt.Errorf("the cache has %s: %w", humanize.IBytes(uint64(p.cacheBytes())), errTrafficBytes)
	}
	program, err := findTrafficServer("traffic_server")
	if err != nil {
		return nil, err
	}
	memory, files := p.cacheFolder(files), p.serverFolder(files)
	c := trafficConfig{maxBytes: p.cacheBytes(), maxObjectBytes: p.largestStored(), memory: memory}
	s := p.baselineSetting("trafficserver-hits-"+strconv.Itoa(promoteHits), "beyond "+strconv.Itoa(promoteBuckets)+" URLs", "fifo")
	r := p.baselineRun(s, trafficVersion(ctx, program), memory, stderr)
	r.start = func(ctx context.Context, o *origin) (proxy, error) {
		return startTrafficServer(ctx, program, files, c, o)
	}
	return []*policyRun{r}, nil
}

// baselineRun returns a run of another proxy. The caller sets its start. memory is the
// folder in memory for its cache, "" for a cache on disk.
func (p *plan) baselineRun(s setting, version, memory string, stderr io.Writer) *policyRun {
	r := newRun(p, s, stderr)
	r.server = version
	if r.folder = memory; memory == "" || p.diskBytes > 0 {
		r.folder = os.TempDir()
	}
	r.noStoreOver = p.largestStored()
	r.optional = p.baseline == baselinesAuto
	return r
}

var versionText = regexp.MustCompile(`nginx/[0-9.]+`)

// nginxVersion returns the program's name and version, or only its name if the version
// is unknown.
func nginxVersion(ctx context.Context, program string) string {
	return cmp.Or(versionText.FindString(versionOf(ctx, program, "-v")), "nginx")
}

// versionOf returns what a program prints with its version flag.
func versionOf(ctx context.Context, program, flag string) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	out, _ := exec.CommandContext(ctx, program, flag).CombinedOutput()
	return string(out)
}

// baselineSetting returns the settings of another proxy, for the report. forgets says when it
// forgets a URL.
func (p *plan) baselineSetting(name, forgets, eviction string) setting {
	return setting{policy: name, rotate: forgets, capacityBytes: p.cacheBytes(), eviction: eviction}
}
