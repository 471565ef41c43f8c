package main

import (
	"context"
	"fmt"

	"github.com/dustin/go-humanize"
)

// What is claimed of the model: the least cut of the bytes written, the loss of
// byte hit ratio in bursts, and what a stage leaves of it, in points.
const (
	leastCut   = 0.44
	burstLoss  = 3.5
	burstAbout = 0.5
	stageLoss  = 1.5
)

// usualObjects is how many objects the claims are about.
const usualObjects = 400_000

// provePopularity shows what second-hit saves and costs where the counts and
// sizes of the objects are those of a production network and their arrivals are
// modelled in two ways.
func provePopularity(ctx context.Context, s simulator) (*proof, error) {
	p := newProof(humanize.Comma(int64(s.objects))+
		" objects with the counts and sizes of a content delivery network, 5 % of the unique bytes, two generations of 4 C requests",
		"arrivals", "setting", "hits", "byte hits", "stores", "written", "cut", "from the origin", "byte hits, exact sets", "cut, exact sets")
	for _, arrivals := range []string{"even", "bursty"} {
		log := fmt.Sprintf("popularity:%s,arrivals=%s,objects=%d", popularity, arrivals, s.objects)
		flags := []string{
			"--policy", "always,second-hit,counting", "--capacity", "5%", "--stage", "0%,1%,10%", "--rotate-requests", "4c",
		}
		filters, err := s.run(ctx, log, flags...)
		if err != nil {
			return nil, err
		}
		exact, err := s.run(ctx, log, append([]string{"--exact"}, flags...)...)
		if err != nil {
			return nil, err
		}
		auto, err := s.run(ctx, log, "--policy", "second-hit,counting", "--capacity", "5%", "--stage", "0%,1%,10%", "--window", fitted)
		if err != nil {
			return nil, err
		}
		p.ran(filters)
		p.ran(exact)
		p.ran(auto)
		if err := p.arrivals(arrivals, filters, exact); err != nil {
			return nil, err
		}
		if err := p.arrivalsAuto(arrivals, auto, filters); err != nil {
			return nil, err
		}
		for _, r := range []struct {
			*report
			sightings string
		}{{filters, "filters"}, {exact, "exact sets"}} {
			if err := p.claimArrivals(arrivals, r.sightings, r.report); err != nil {
				return nil, err
			}
		}
	}
	return p, nil
}

// arrivals adds the rows of one model, every setting that was run.
func (p *proof) arrivals(name string, filters, exact *report) error {
	settings := []setting{{5, "always", "", 0}}
	for _, policy := range []string{"second-hit", "counting"} {
		for _, stage := range []int64{0, 1, 10} {
			settings = append(settings, setting{5, policy, byRequests, stage})
		}
	}
	var always [2]int64 // bytes written
	for i, want := range settings {
		f, err := filters.find(want)
		if err != nil {
			return err
		}
		x, err := exact.find(want)
		if err != nil {
			return err
		}
		if i == 0 {
			always = [2]int64{f.WriteBytes, x.WriteBytes}
		}
		p.row(name, want.text(), ratioText(f.HitRatio), ratioText(f.ByteHitRatio), humanize.Comma(f.Writes), humanize.IBytes(uint64(f.WriteBytes)),
			changeText(-cut(f.WriteBytes, always[0])), humanize.IBytes(uint64(f.OriginBytes)),
			ratioText(x.ByteHitRatio), changeText(-cut(x.WriteBytes, always[1])))
	}
	return nil
}

// arrivalsAuto adds the rows of the window that fits the cache; filters has always.
func (p *proof) arrivalsAuto(name string, auto, filters *report) error {
	always, err := filters.find(setting{5, "always", "", 0})
	if err != nil {
		return err
	}
	for _, policy := range []string{"second-hit", "counting"} {
		for _, stage := range []int64{0, 1, 10} {
			want := setting{5, policy, fitted, stage}
			got, err := auto.find(want)
			if err != nil {
				return err
			}
			p.row(name, want.text(), ratioText(got.HitRatio), ratioText(got.ByteHitRatio), humanize.Comma(got.Writes), humanize.IBytes(uint64(got.WriteBytes)),
				changeText(-cut(got.WriteBytes, always.WriteBytes)), humanize.IBytes(uint64(got.OriginBytes)), "", "")
		}
	}
	return nil
}

// claimArrivals looks at one run of one model.
func (p *proof) claimArrivals(arrivals, sightings string, r *report) error {
	always, err := r.find(setting{5, "always", "", 0})
	if err != nil {
		return err
	}
	second, err := r.find(setting{5, "second-hit", byRequests, 0})
	if err != nil {
		return err
	}
	staged, err := r.find(setting{5, "second-hit", byRequests, 10})
	if err != nil {
		return err
	}
	model := fmt.Sprintf("%s arrivals, %s: ", arrivals, sightings)
	less := cut(second.WriteBytes, always.WriteBytes)
	p.claim(model+"second-hit writes at least 44 % fewer bytes", less >= leastCut, "%.1f %%", 100*less)
	loss := points(always.ByteHitRatio, second.ByteHitRatio)
	if arrivals == "even" {
		p.claim(model+"its byte hit ratio is above that of always", loss < 0, "%+.2f points", -loss)
		return nil
	}
	p.claim(model+"its byte hit ratio is about 3.5 points (3 to 4) below that of always",
		loss >= burstLoss-burstAbout && loss <= burstLoss+burstAbout, "%.2f points", loss)
	rest := points(always.ByteHitRatio, staged.ByteHitRatio)
	p.claim(model+"with a stage of 10 % it is at most 1.5 points below", rest <= stageLoss, "%.2f points", rest)
	return nil
}
