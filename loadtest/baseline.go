package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

// The values of --baselines.
const (
	baselinesAuto  = "auto" // with --html, where nginx is there
	baselinesNone  = "none"
	baselinesNginx = "nginx"
)

// nginxMinUses are the values of proxy_cache_min_uses that nginx runs with: 1
// stores like always, 2 like second-hit.
var nginxMinUses = [...]int{1, 2}

// usualNginx is where nginx is when a user's PATH has no folder for servers.
const usualNginx = "/usr/sbin/nginx"

// baselines returns the runs of what edgeproxy is compared with. Where it is not
// there, a note says so and there are none. files is a folder for theirs.
func (p *plan) baselines(ctx context.Context, files string, stderr io.Writer) []*policyRun {
	if p.baseline == baselinesNone || p.baseline == baselinesAuto && p.html == "" {
		return nil
	}
	program, err := findNginx(p.nginx)
	if err != nil {
		fmt.Fprintf(stderr, "note: no nginx, its rows are left out: %v\n", err)
		return nil
	}
	version := nginxVersion(ctx, program)
	memory := memoryFolder(p.maxBytes)
	var out []*policyRun
	for _, minUses := range nginxMinUses {
		c := nginxConfig{
			minUses: minUses, maxBytes: p.maxBytes, keys: p.facts.Objects, euid: os.Geteuid(), memory: memory,
		}
		r := newRun(p, p.nginxSetting(minUses), stderr)
		r.server = version
		r.folder = cmp.Or(memory, os.TempDir())
		r.noStoreOver = p.maxObjectBytes
		r.optional = p.baseline == baselinesAuto
		r.start = func(ctx context.Context, o *origin) (proxy, error) { return startNginx(ctx, program, files, c, o) }
		out = append(out, r)
	}
	return out
}

// findNginx returns the path of the program given, or else of the usual one.
func findNginx(given string) (string, error) {
	path, err := exec.LookPath(cmp.Or(given, "nginx"))
	if err != nil && given == "" {
		path, err = exec.LookPath(usualNginx)
	}
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

var versionText = regexp.MustCompile(`nginx/[0-9.]+`)

// nginxVersion is the program's name and version, or its name where it does not
// tell.
func nginxVersion(ctx context.Context, program string) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	out, _ := exec.CommandContext(ctx, program, "-v").CombinedOutput()
	if v := versionText.Find(out); v != nil {
		return string(v)
	}
	return "nginx"
}

// nginxSetting is what the report says of an nginx.
func (p *plan) nginxSetting(minUses int) setting {
	return setting{
		policy: "nginx-min-uses-" + strconv.Itoa(minUses), rotate: "idle for " + nginxInactive.String(), capacityBytes: p.maxBytes,
		eviction: "lru",
	}
}
