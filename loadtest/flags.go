package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/lab/command"
	"edgeproxy/internal/lab/trace"
)

// Policies that the driver treats specially. Package policy has the table of all.
const (
	policyAlways    = "always"
	policySecondHit = "second-hit"
	policyCounting  = "counting"
)

const (
	maxConnections = 1024
	maxRuns        = 100
	defaultTimeout = time.Hour
	maxStageShare  = 0.5 // a share of the capacity: edgeproxy takes no more
)

// stageLimit is maxStageShare in words.
const stageLimit = "at most 50%, or a size up to half of the capacity"

// options is the command line, checked as far as possible without the trace.
type options struct {
	trace, format  string
	limit          int // lines of a file, or generated requests; 0 = all
	seed           uint64
	policies       []string           // without repeats; always comes first
	parameters     map[string]float64 // given parameters by policy name
	rotateEvery    *time.Duration
	filterCapacity int64 // keys; 0 = not given
	capacity       amount
	disk           amount  // zero = none
	stage          amount  // a part of the capacity; zero = none
	maxObjectBytes int64   // 0 = chosen by the plan
	rate           float64 // requests a second; 0 = chosen by the plan
	connections    int
	runs           int // how often each policy runs
	maxAge         time.Duration
	timeout        time.Duration
	edgeproxy      string
	nginx          string // "" = searched for
	json           bool
	jsonFile       string
	html           string // file; "" = none
	baseline       string
	minSaved       float64
	thresholds     thresholds
}

// amount is a size, or a share of the trace's unique bytes.
type amount struct {
	text  string
	bytes int64
	share float64 // in (0, 1]; 0 = bytes counts
}

func (a amount) of(total int64) int64 {
	if a.share > 0 {
		return int64(a.share * float64(total))
	}
	return a.bytes
}

func parseFlags(args []string, stderr io.Writer) (*options, error) {
	o := &options{}
	fs := flag.NewFlagSet("loadtest", flag.ContinueOnError)
	fs.SetOutput(stderr)
	o.define(fs)
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil, err
		}
		return nil, &command.UsageError{Err: err}
	}
	if fs.NArg() > 0 {
		return nil, command.Usagef("unexpected argument %q", fs.Arg(0))
	}
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if err := o.validate(given); err != nil {
		return nil, &command.UsageError{Err: err}
	}
	return o, nil
}

func (o *options) define(fs *flag.FlagSet) {
	fs.StringVar(&o.trace, "trace", "", "`FILE` of requests, zipf:KEY=V,... or popularity:FILE,KEY=V,... (required)")
	fs.StringVar(&o.format, "format", "", "force the file's `format`: "+strings.Join(trace.Formats(), ", ")+" (default: by its content)")
	fs.IntVar(&o.limit, "limit", 0, "use only the first `N` lines of the file, or generated requests; 0 = all")
	fs.Uint64Var(&o.seed, "seed", 1, "`seed` of generated requests and of the bodies")
	o.policies = []string{policyAlways, policySecondHit, policyCounting}
	fs.Func("policies", "comma-separated `list` of "+strings.Join(policy.Names(nil), ", ")+"; always is included (default always,second-hit,counting)", o.parsePolicies)
	o.defineParameters(fs)
	remember := strings.Join(policy.Names(policy.Policy.Remembers), ", ")
	fs.Func("rotate-every", remember+": admission's rotate_every, a `duration` (default: none; with --filter-capacity edgeproxy's own)", o.parseRotate)
	fs.Int64Var(&o.filterCapacity, "filter-capacity", 0, remember+": distinct `keys` a generation holds, which makes the window fixed (default: edgeproxy's own, auto)")
	o.capacity = amount{text: "5%", share: 0.05}
	fs.Func("capacity", "cache.memory.max_bytes: a `size`, or P% of the trace's unique bytes (default 5%)", parseAmountInto(&o.capacity))
	fs.Func("disk", "give edgeproxy a disk tier, and keep the caches of all proxies on disk: cache.disk.max_bytes, a `size` or P% of the trace's unique bytes (default none)", parseAmountInto(&o.disk))
	fs.Func("stage", strings.Join(policy.Names(policy.Policy.Chooses), ", ")+": cache.memory.stage_bytes, a `size` or P% of the capacity, which it is part of (default none)", parseAmountInto(&o.stage))
	fs.Func("max-object", "cache.memory.max_object_bytes, a `size` (default: the largest object, at most a quarter of the capacity less the stage)", o.parseMaxObject)
	fs.Float64Var(&o.rate, "rate", 0, "`requests` a second (default: 4000, or fewer to request at most 150 MB a second)")
	fs.IntVar(&o.connections, "connections", 32, "keep-alive `connections`; 1 = one request after the other")
	fs.IntVar(&o.runs, "runs", 1, "run everything `N` times, and report the means; curves are of the first")
	fs.DurationVar(&o.maxAge, "max-age", 24*time.Hour, "max-age that the origin sends, whole seconds")
	fs.DurationVar(&o.timeout, "timeout", defaultTimeout, "give up after this `duration`, all policies together")
	fs.StringVar(&o.edgeproxy, "edgeproxy", "", "`path` of the program (default: build ./cmd/edgeproxy)")
	fs.StringVar(&o.nginx, "nginx", "", "`path` of nginx (default: on PATH, or /usr/sbin/nginx)")
	fs.BoolVar(&o.json, "json", false, "print the report as JSON instead of the table")
	fs.StringVar(&o.jsonFile, "json-file", "", "also write the JSON report to this `file`")
	fs.StringVar(&o.html, "html", "", "also write the report with its curves to this `file`, one page that opens offline")
	fs.StringVar(&o.baseline, "baselines", baselinesAuto, "proxies to compare with: a `list` of nginx and trafficserver, all (those installed), none, or auto (all with --html, else none)")
	fs.Float64Var(&o.minSaved, "min-saved", 0, "exit 1 unless second-hit saves this `share` (0 to 1) of the writes of always")
	fs.Func("min-less", "with --disk: exit 1 unless second-hit writes less to the disk than always by this `share` (0 to 1)", parseShare(&o.thresholds.minLess))
	fs.Func("max-off", "with --disk: exit 1 if a byte hit ratio differs from the forecast by more than this `share` (0 to 1; half a point is 0.005)", parseShare(&o.thresholds.maxOff))
	fs.Func("max-loss", "exit 1 if the byte hit ratio of second-hit is below that of always by more than this `share` (0 to 1)", parseShare(&o.thresholds.maxLoss))
}

// defineParameters defines a flag for the parameter of each policy that has one.
func (o *options) defineParameters(fs *flag.FlagSet) {
	o.parameters = map[string]float64{}
	for _, p := range policy.All() {
		param := p.Parameter()
		if param == nil {
			continue
		}
		fs.Func(param.Flag(), fmt.Sprintf("%v: %s (default %s)", p, param.Usage, policy.Number(param.Default)), func(s string) error {
			v, err := strconv.ParseFloat(s, 64)
			if err != nil {
				return errors.New("must be a number " + param.Want())
			}
			o.parameters[p.String()] = v
			return nil
		})
	}
}

func (o *options) parsePolicies(s string) error {
	o.policies = []string{policyAlways}
	for p := range strings.SplitSeq(s, ",") {
		if _, err := policy.Parse(p); err != nil {
			return fmt.Errorf("unknown policy %q: must be %s", p, strings.Join(policy.Names(nil), ", "))
		}
		if !slices.Contains(o.policies, p) {
			o.policies = append(o.policies, p)
		}
	}
	return nil
}

func (o *options) parseRotate(s string) error {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return errors.New("must be a duration with a unit, such as 30m; 0s = by fill only")
	}
	o.rotateEvery = &d
	return nil
}

// parseAmountInto returns a function that parses an amount into to.
func parseAmountInto(to *amount) func(string) error {
	return func(s string) (err error) {
		*to, err = parseAmount(s)
		return err
	}
}

func (o *options) parseMaxObject(s string) (err error) {
	o.maxObjectBytes, err = parseSize(s)
	return err
}

// parseShare returns a function that parses a share into to.
func parseShare(to **float64) func(string) error {
	return func(s string) error {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil || !(v >= 0 && v <= 1) {
			return errors.New("must be a share from 0 to 1")
		}
		*to = &v
		return nil
	}
}

func parseAmount(s string) (amount, error) {
	percent, ok := strings.CutSuffix(s, "%")
	if !ok {
		n, err := parseSize(s)
		return amount{text: s, bytes: n}, err
	}
	p, err := strconv.ParseFloat(percent, 64)
	if err != nil || !(p > 0 && p <= 100) {
		return amount{}, errors.New("must be a share above 0% and at most 100%, or a size such as 64MiB")
	}
	return amount{text: s, share: p / 100}, nil
}

func parseSize(s string) (int64, error) {
	n, err := humanize.ParseBytes(s)
	if err != nil || n == 0 || n > math.MaxInt64 {
		return 0, errors.New("must be a size above 0, such as 64MiB")
	}
	return int64(n), nil
}
