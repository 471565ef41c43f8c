package main

import (
	"context"
	"fmt"

	"github.com/dustin/go-humanize"
)

// modelObjects is how many objects the models of proveShipped have.
const modelObjects = 50_000

// proveShipped shows what the proxy does as it ships beside the same with exact LRU.
func proveShipped(ctx context.Context, s simulator) (*proof, error) {
	p := newProof("The eviction that ships beside exact LRU, 5 % of the unique bytes, a stage of 10 %, window auto",
		"requests", "setting", "hits", "byte hits", "stores", "hits, LRU", "byte hits, LRU", "stores, LRU")
	model := fmt.Sprintf("popularity:%s,objects=%d,arrivals=", popularity, min(s.objects, modelObjects))
	logs := []struct{ name, log string }{{"Akamai model, even", model + "even"}, {"Akamai model, bursty", model + "bursty"}}
	for _, t := range traces() {
		logs = append(logs, struct{ name, log string }{t.name, t.file})
	}
	for _, l := range logs {
		if err := p.shipped(ctx, s, l.name, l.log); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// shipped adds the rows of some requests.
func (p *proof) shipped(ctx context.Context, s simulator, name, log string) error {
	for _, setting := range []struct {
		text  string
		flags []string
	}{
		{"always", []string{"--policy", "always"}},
		{"second-hit", []string{"--policy", "second-hit", "--stage", "10%", "--window", fitted}},
		{"counting, more_than 2", []string{"--policy", "counting", "--more-than", "2", "--stage", "10%", "--window", fitted}},
	} {
		var got [2]*result
		for i, eviction := range []string{"size-aware", "lru"} {
			r, err := s.runAsIs(ctx, log, append(setting.flags, "--capacity", "5%", "--eviction", eviction)...)
			if err != nil {
				return err
			}
			p.ran(r)
			got[i] = &r.Results[len(r.Results)-1] // always may come first
		}
		ships, lru := got[0], got[1]
		p.row(name, setting.text, ratioText(ships.HitRatio), ratioText(ships.ByteHitRatio), humanize.Comma(ships.Writes),
			ratioText(lru.HitRatio), ratioText(lru.ByteHitRatio), humanize.Comma(lru.Writes))
		if setting.text == "second-hit" {
			gain := points(ships.HitRatio, lru.HitRatio)
			p.claim(name+": second-hit with the eviction that ships has more hits than with LRU", gain > 0, "%+.2f points", gain)
			stores := float64(ships.Writes) / float64(max(lru.Writes, 1))
			p.claim(name+": and at most 1.05 times its stores", stores <= 1.05, "%.2f", stores)
		}
	}
	return nil
}
