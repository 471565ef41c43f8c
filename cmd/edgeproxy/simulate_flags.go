package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"edgeproxy/config"
	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/lab/model"
	"edgeproxy/internal/lab/simulate"
	"edgeproxy/internal/lab/trace"
)

// Bounds of the flags. They are those of the configuration, so that every
// recommendation is a valid setting.
const (
	maxPercent      = 1000 // percent of the unique bytes
	maxStagePercent = 50   // percent of the capacity
	minRotateEvery  = time.Second
	maxRotateEvery  = 8760 * time.Hour
	maxRotateCount  = 1_000_000_000
)

// defineFlags adds the flags to cmd.
func (s *simulation) defineFlags(cmd *cobra.Command) {
	f, g := cmd.Flags(), &s.grid
	f.Var(listOf(&g.Policies, "list", parsePolicy), "policy", strings.Join(policy.Names(nil), ", ")+" (default always,second-hit,counting; with neither --rotate-... nor --exact counting has --more-than 2,3,4)")
	s.parameters(cmd)
	f.Var(listOf(&g.Capacities, "size", parseCapacity), "capacity", "of the cache, a `size`, or P% of the unique bytes (default 5%)")
	f.Var(listOf(&g.Disks, "size", parseDisk), "disk", "disk tier behind the memory, whose size is then --capacity: a `size`, P% of the unique bytes, or 0 for none (default 0)")
	f.Var(oneOf(&s.window, windowAuto, windowFixed), "window", "auto fits the window to the cache, as the proxy does, and --rotate-every bounds it; fixed uses --rotate-... (default both; auto with neither --policy, --rotate-... nor --exact)")
	f.Var(listOf(&g.Rotations, "duration", parseRotateEvery), "rotate-every", "rotate the filter after this `duration`; needs a log with times")
	f.Var(listOf(&g.Rotations, "n", parseRotateCount(simulate.ByRequests)), "rotate-requests", "rotate after `n` requests; 4c is 4 times c; never, with --exact")
	f.Var(listOf(&g.Rotations, "n", parseRotateCount(simulate.ByKeys)), "rotate-keys", "rotate at `n` distinct keys; 4c is 4 times c; never, with --exact (default auto; with --policy or --exact auto,1c,4c,16c, and with --exact never)")
	f.Var(listOf(&g.Generations, "n", parseWhole(2, 4)), "generations", "of the window, 2 to 4 (default 2)")
	f.Var(listOf(&g.FalsePositiveRates, "ratio", parseRate), "false-positive-rate", "of the whole window when it is full, a `ratio` up to 0.5, or P% (default 0.01)")
	f.Var(listOf(&g.MaxObjects, "size", parseMaxObject), "max-object", "`size` of the largest object that is stored, on the disk if there is one; "+
		"at most a quarter of the capacity without the stage, or an eighth of the disk (default as the proxy: 8MiB, or 1GiB on the disk, and at most that)")
	f.Var(listOf(&g.Stages, "size", parseStage), "stage", "part of the capacity for first sightings, a `size`, P%, or auto as the proxy (default 0%; with neither --policy, --rotate-... nor --exact auto,0%)")
	f.Var(listOf(&g.Evictions, "list", parseEviction), "eviction",
		strings.Join(model.EvictionNames(), ", ")+"; clairvoyant knows the future, to compare with (default "+string(model.Default)+", as the proxy; lru below its least capacity, 64KiB)")
	f.BoolVar(&g.Exact, "exact", false, "remember sightings in exact sets instead of filters")
	f.Var(&goalFlag{&s.goal}, "goal", "of the recommendation: "+strings.Join(simulate.Goals(), ", ")+" (default balanced)")
	f.Var(&formatFlag{&s.format}, "format", "of the logs: "+strings.Join(trace.Formats(), ", ")+" (default: detected)")
	f.Var(&s.fields, "fields", "names of the fields of logs in JSON, TSV or CSV, such as target=url,host=site,bytes=size; also "+
		strings.Join(trace.FieldRoles()[3:], ", "))
	s.edges.defineFlags(f)
	f.BoolVar(&s.ignoreTimes, "ignore-times", false, "take the lines in their order, whatever their times: for a log of a clock that was set back")
	f.BoolVar(&s.gets, "get-only", false, "leave HEAD requests out, to compare with simulators that do not know them")
	f.BoolVar(&s.json, "json", false, "print one JSON document instead of the table")
	f.StringVar(&s.html, "html", "", "also write the report as a page to this `file`")
}

// parameters adds a flag for the parameter of each policy that has one.
func (s *simulation) parameters(cmd *cobra.Command) {
	s.grid.Parameters = simulate.Parameters{}
	for _, p := range policy.All() {
		if param := p.Parameter(); param != nil {
			usage := fmt.Sprintf("%v: %s, %s (default %s)", p, param.Usage, param.Want(), policy.Number(param.Default))
			cmd.Flags().Var(&parameterFlag{s.grid.Parameters, p}, param.Flag(), usage)
		}
	}
}

// parameterFlag holds the values to try for one policy's parameter.
type parameterFlag struct {
	values simulate.Parameters
	policy policy.Policy
}

// Set adds the values of text.
func (p *parameterFlag) Set(text string) error {
	values := p.values[p.policy.String()]
	err := listOf(&values, p.Type(), parseParameter(p.policy.Parameter())).Set(text)
	p.values[p.policy.String()] = values
	return err
}

// String returns nothing: the usage text names the default.
func (p *parameterFlag) String() string { return "" }

// Type names the value in the help.
func (p *parameterFlag) Type() string { return "n" }

// parseParameter reads a value of a policy's parameter.
func parseParameter(p *policy.Parameter) func(string) (float64, error) {
	return func(text string) (float64, error) {
		v, err := strconv.ParseFloat(text, 64)
		switch {
		case err == nil && p.Holds(v):
			return v, nil
		case p.Whole:
			return 0, errors.New("must be a whole number from " + p.Want())
		default:
			return 0, errors.New("must be a number " + p.Want())
		}
	}
}

// The values of --window.
const (
	windowAuto  = "auto"
	windowFixed = "fixed"
)

// applyWindow adjusts the grid's rotations to --window.
func (s *simulation) applyWindow() error {
	g := &s.grid
	switch {
	case !s.remembers(): // no window, whatever is said of it
	case s.window == windowAuto:
		for i := range g.Rotations {
			if g.Rotations[i].Unit != simulate.ByTime {
				return errors.New("--window auto: must be without --rotate-requests and --rotate-keys, or --window fixed")
			}
			g.Rotations[i].Unit = simulate.Fitted
		}
		if len(g.Rotations) == 0 {
			g.Rotations = []simulate.Rotation{{Unit: simulate.Fitted}}
		}
	case s.window == windowFixed && len(g.Rotations) == 0:
		g.Rotations = simulate.FixedRotations(g.Exact)
	}
	return nil
}

// remembers reports whether a policy of the grid has a window.
func (s *simulation) remembers() bool {
	return len(s.grid.Policies) == 0 || slices.ContainsFunc(s.grid.Policies, policy.Policy.Remembers)
}

// checkReading refuses flags of the logs that exclude each other.
func (s *simulation) checkReading() error {
	if err := s.fields.Check(s.format); err != nil {
		return fmt.Errorf("--fields %w", err)
	}
	if s.ignoreTimes && slices.ContainsFunc(s.grid.Rotations, func(r simulate.Rotation) bool { return r.Every > 0 }) {
		return errors.New("--ignore-times: must have no --rotate-every beside it, which needs the times")
	}
	return nil
}

// wordFlag is a flag with a fixed set of values.
type wordFlag struct {
	value *string
	words []string
}

func oneOf(value *string, words ...string) *wordFlag { return &wordFlag{value, words} }

// Set takes a word.
func (w *wordFlag) Set(text string) error {
	if !slices.Contains(w.words, text) {
		return errors.New("must be " + policy.OneOf(w.words))
	}
	*w.value = text
	return nil
}

// String returns the word, "" for none.
func (w *wordFlag) String() string {
	if w.value == nil {
		return ""
	}
	return *w.value
}

// Type names what the flag takes.
func (*wordFlag) Type() string { return "word" }

// listFlag is a flag that takes several values, by commas or by repetition.
type listFlag[T any] struct {
	values *[]T
	kind   string
	parse  func(string) (T, error)
}

func listOf[T any](values *[]T, kind string, parse func(string) (T, error)) *listFlag[T] {
	return &listFlag[T]{values: values, kind: kind, parse: parse}
}

// Set adds the values of text.
func (l *listFlag[T]) Set(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		v, err := l.parse(part)
		if err != nil {
			return fmt.Errorf("%q: %w", part, err)
		}
		*l.values = append(*l.values, v)
	}
	return nil
}

// String returns nothing: the usage texts name the defaults.
func (l *listFlag[T]) String() string { return "" }

// Type names the value in the help.
func (l *listFlag[T]) Type() string { return l.kind }

// formatFlag is the name of a format of logs.
type formatFlag struct{ name *string }

// Set takes the name.
func (f *formatFlag) Set(text string) error {
	if !slices.Contains(trace.Formats(), text) {
		return errors.New("must be " + strings.Join(trace.Formats(), ", "))
	}
	*f.name = text
	return nil
}

// String returns nothing: by default the format is detected.
func (f *formatFlag) String() string { return "" }

// Type names the value in the help.
func (f *formatFlag) Type() string { return "name" }

// goalFlag is the goal of the recommendation.
type goalFlag struct{ goal *simulate.Goal }

// Set takes the name.
func (f *goalFlag) Set(text string) (err error) {
	*f.goal, err = simulate.ParseGoal(text)
	return err
}

// String returns nothing: the usage text names the default.
func (f *goalFlag) String() string { return "" }

// Type names the value in the help.
func (f *goalFlag) Type() string { return "name" }

func parsePolicy(text string) (policy.Policy, error) {
	p, err := policy.Parse(text)
	if err != nil {
		return 0, errors.New("must be " + policy.OneOf(policy.Names(nil)))
	}
	return p, nil
}

func parseEviction(text string) (model.Eviction, error) {
	if !slices.Contains(model.Evictions(), model.Eviction(text)) {
		return "", errors.New("must be " + model.OneOfEvictions())
	}
	return model.Eviction(text), nil
}

// parseWhole reads whole numbers from low to high.
func parseWhole(low, high int) func(string) (int, error) {
	return func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil || n < low || n > high {
			return 0, fmt.Errorf("must be a whole number from %d to %d", low, high)
		}
		return n, nil
	}
}

func parseCapacity(text string) (simulate.Amount, error) {
	a, err := parseAmount(text, maxPercent)
	if err == nil && a == (simulate.Amount{}) {
		err = errors.New("must be more than nothing")
	}
	return a, err
}

func parseDisk(text string) (simulate.Amount, error) { return parseAmount(text, maxPercent) }

func parseStage(text string) (simulate.Amount, error) {
	if text == "auto" {
		return simulate.Amount{Auto: true}, nil
	}
	a, err := parseAmount(text, maxStagePercent)
	if err != nil {
		err = fmt.Errorf("%w, or auto, the proxy's own", err)
	}
	return a, err
}

// parseAmount reads a size, or a percentage up to most.
func parseAmount(text string, most float64) (simulate.Amount, error) {
	number, ok := strings.CutSuffix(text, "%")
	if !ok {
		n, err := config.ParseSize(text)
		return simulate.Amount{Bytes: int64(n)}, err
	}
	p, err := strconv.ParseFloat(number, 64)
	if err != nil || !(p >= 0 && p <= most) {
		return simulate.Amount{}, fmt.Errorf("must be 0%% to %g%%, or a size such as 64MiB", most)
	}
	return simulate.Amount{Percent: p}, nil
}

func parseMaxObject(text string) (int64, error) {
	n, err := config.ParseSize(text)
	if err == nil && n == 0 {
		err = errors.New("must be more than nothing")
	}
	return int64(n), err
}

func parseRotateEvery(text string) (simulate.Rotation, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < minRotateEvery || d > maxRotateEvery {
		return simulate.Rotation{}, errors.New("must be a duration of 1s to 8760h with a unit (s, m or h), such as 30m")
	}
	return simulate.Rotation{Unit: simulate.ByTime, Every: d}, nil
}

// parseRotateCount reads a number, a multiple of c, or never.
func parseRotateCount(unit simulate.Unit) func(string) (simulate.Rotation, error) {
	return func(text string) (simulate.Rotation, error) {
		if text == "never" {
			return simulate.Rotation{Unit: simulate.Never}, nil
		}
		if number, ok := strings.CutSuffix(text, "c"); ok {
			c, err := strconv.ParseFloat(number, 64)
			if err == nil && c > 0 && !math.IsInf(c, 0) {
				return simulate.Rotation{Unit: unit, PerCached: c}, nil
			}
		} else if n, err := strconv.ParseInt(text, 10, 64); err == nil && n > 0 && n <= maxRotateCount {
			return simulate.Rotation{Unit: unit, Count: n}, nil
		}
		return simulate.Rotation{}, errors.New("must be a number of at most 1000000000, a multiple of c such as 4c, or never")
	}
}
