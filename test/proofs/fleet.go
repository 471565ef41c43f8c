package main

import (
	"context"

	"github.com/dustin/go-humanize"
)

// fleetNodes is how many edges the fleet of proveFleet has.
const fleetNodes = "4"

// fleets are the ways in which edges share requests, by what simulate calls them.
func fleets() []struct{ balance, share string } {
	return []struct{ balance, share string }{
		{"random", "none"}, {"random", "sightings"}, {"random", "digests"}, {"random", "placement"}, {"hash", "none"},
	}
}

// proveFleet shows what edges gain by asking or telling each other, beside a balancer that decides by URL.
func proveFleet(ctx context.Context, s simulator) (*proof, error) {
	columns := []string{"balancing", "share"}
	for _, t := range traces() {
		columns = append(columns, t.name)
	}
	p := newProof(fleetNodes+" edges with second-hit as it ships, 5 % of the unique bytes each: hits / writes / requests between edges", columns...)
	results := make([][]*result, len(fleets()))
	for i, f := range fleets() {
		cells := []string{f.balance, f.share}
		for _, t := range traces() {
			r, err := s.runAsIs(ctx, t.file, "--nodes", fleetNodes, "--balance", f.balance, "--share", f.share,
				"--policy", "second-hit", "--stage", "auto", "--window", fitted, "--capacity", "5%")
			if err != nil {
				return nil, err
			}
			p.ran(r)
			got := &r.Results[len(r.Results)-1] // always comes first
			results[i] = append(results[i], got)
			cells = append(cells, ratioText(got.HitRatio)+" / "+humanize.Comma(got.Writes)+" / "+humanize.Comma(got.PeerRequests))
		}
		p.row(cells...)
	}
	for i, t := range traces() {
		p.claimFleet(t.name, results[0][i], results[1][i], results[2][i], results[3][i], results[4][i])
	}
	return p, nil
}

// claimFleet claims what docs/savings.md says of the fleets.
func (p *proof) claimFleet(name string, none, sightings, digests, placement, hash *result) {
	gain := func(r *result) float64 { return points(r.HitRatio, none.HitRatio) }
	rises := gain(sightings) > 0 && gain(digests) > gain(sightings) && gain(placement) > gain(digests) && gain(hash) > gain(placement)
	p.claim(name+": sightings, digests, placement and hash balancing have more hits each than the one before", rises,
		"%+.2f, %+.2f, %+.2f and %+.2f points", gain(sightings), gain(digests), gain(placement), gain(hash))
	p.claim(name+": sightings gain at most 2 points", gain(sightings) <= 2, "%+.2f", gain(sightings))
	behind := points(hash.HitRatio, placement.HitRatio)
	p.claim(name+": placement is at most 2 points behind hash balancing", behind <= 2, "%.2f", behind)
	writes := float64(placement.Writes) / float64(max(hash.Writes, 1))
	p.claim(name+": with 1.4 to 2.2 times its writes", writes >= 1.4 && writes <= 2.2, "%.2f", writes)
}
