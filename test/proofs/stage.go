package main

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/dustin/go-humanize"
)

// stageShare is the capacity that the claims about the stage are made for, in
// percent of the unique bytes.
const stageShare = 5

// proveStage shows what a part of the memory for newcomers gives back.
func proveStage(ctx context.Context, s simulator) (*proof, error) {
	p := newProof("A stage for first sightings, 5 % of the unique bytes, two generations of 4 C requests",
		"trace", "setting", "hits", "byte hits", "stores into the main part", "change", "hits, exact sets", "change, exact sets")
	for _, t := range traces() {
		least, word := 0.0, "above that of"
		if t.file == apache {
			least, word = -1, "within 1 point of"
		}
		if err := p.stageOf(ctx, s, t, least, word); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// stageOf adds the rows of one trace. With 10 % as the stage the hit ratio has to
// be more than least points above that of always.
func (p *proof) stageOf(ctx context.Context, s simulator, t recorded, least float64, word string) error {
	filters, exact, err := s.staged(ctx, t.file)
	if err != nil {
		return err
	}
	p.ran(filters)
	p.ran(exact)
	var always [2]*result // with filters, with sets
	for _, want := range []setting{
		{stageShare, "always", "", 0},
		{stageShare, "second-hit", byRequests, 0},
		{stageShare, "second-hit", byRequests, 1},
		{stageShare, "second-hit", byRequests, 10},
	} {
		f, err := filters.find(want)
		if err != nil {
			return err
		}
		x, err := exact.find(want)
		if err != nil {
			return err
		}
		if want.policy == "always" {
			always = [2]*result{f, x}
		}
		change, exactly := -cut(f.Writes, always[0].Writes), -cut(x.Writes, always[1].Writes)
		p.row(t.name, want.text(), ratioText(f.HitRatio), ratioText(f.ByteHitRatio), humanize.Comma(f.Writes),
			changeText(change), ratioText(x.HitRatio), changeText(exactly))
		if want.stage == 10 {
			gain := points(f.HitRatio, always[0].HitRatio)
			p.claim(fmt.Sprintf("%s: with a stage of 10 %% the hit ratio is %s always", t.name, word), gain > least, "%+.2f points", gain)
			p.claim(t.name+": with a stage of 10 % the stores into the main part fall by 65 % or more", change <= -0.65, "%+.1f %%", 100*change)
		}
		p.sameStage(t, want, x, exactly)
	}
	return p.stageOfAuto(ctx, s, t, always[0])
}

// stageOfAuto adds the rows of the window that fits the cache, which is the default.
func (p *proof) stageOfAuto(ctx context.Context, s simulator, t recorded, always *result) error {
	auto, err := s.run(ctx, t.file, "--policy", "second-hit", "--capacity", strconv.Itoa(stageShare)+"%", "--stage", "0%,1%,10%", "--window", fitted)
	if err != nil {
		return err
	}
	p.ran(auto)
	for _, stage := range []int64{0, 1, 10} {
		want := setting{stageShare, "second-hit", fitted, stage}
		got, err := auto.find(want)
		if err != nil {
			return err
		}
		p.row(t.name, want.text(), ratioText(got.HitRatio), ratioText(got.ByteHitRatio), humanize.Comma(got.Writes),
			changeText(-cut(got.Writes, always.Writes)), "", "")
	}
	return nil
}

// staged runs the settings with filters and with exact sets. The other simulator
// counted its requests by a C that is no whole number.
func (s simulator) staged(ctx context.Context, log string) (filters, exact *report, err error) {
	share := strconv.Itoa(stageShare) + "%"
	probe, err := s.run(ctx, log, "--policy", "always", "--capacity", share)
	if err != nil {
		return nil, nil, err
	}
	always, err := probe.find(setting{stageShare, "always", "", 0})
	if err != nil {
		return nil, nil, err
	}
	period := 4 * float64(always.CapacityBytes) * float64(probe.Trace.Objects) / float64(probe.Trace.UniqueBytes)
	flags := []string{
		"--policy", "always,second-hit", "--capacity", share, "--stage", "0%,1%,10%", "--rotate-requests", strconv.Itoa(int(period)),
	}
	if filters, err = s.run(ctx, log, flags...); err != nil {
		return nil, nil, err
	}
	exact, err = s.run(ctx, log, append([]string{"--exact"}, flags...)...)
	return filters, exact, err
}

// sameStage claims that exact sets give what the other simulator found.
func (p *proof) sameStage(t recorded, s setting, got *result, change float64) {
	for _, v := range t.rows {
		want := v.stage1
		if s.stage == 10 {
			want = v.stage10
		}
		if v.share != s.share || s.stage == 0 {
			continue
		}
		p.claim(fmt.Sprintf("%s: with exact sets a stage of %d %% gives what the other simulator found, to the last digit", t.name, s.stage),
			hundredths(got.HitRatio) == want.hits && hundredths(got.ByteHitRatio) == want.bytes && math.Round(1000*change)/10 == want.writes,
			"%.2f / %.2f / %+.1f %%", 100*got.HitRatio, 100*got.ByteHitRatio, 100*change)
	}
}

// text names a setting of one capacity.
func (s setting) text() string {
	out := s.policy
	if s.policy == "counting" {
		out = "more than 4"
	}
	if s.rotate == fitted {
		out += ", window auto"
	}
	if s.stage > 0 {
		out += fmt.Sprintf(", %d %% stage", s.stage)
	}
	return out
}

// ratioText writes a ratio in percent.
func ratioText(r float64) string { return fmt.Sprintf("%.2f %%", 100*r) }

// changeText writes a change against always, nothing for always itself.
func changeText(r float64) string {
	if r == 0 {
		return ""
	}
	return fmt.Sprintf("%+.1f %%", 100*r)
}
