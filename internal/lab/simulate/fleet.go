package simulate

import (
	"fmt"
	"slices"

	"github.com/dustin/go-humanize"

	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/lab/model"
)

// checkFleet refuses edges that cannot work together.
func (g Grid) checkFleet() error {
	if err := g.Fleet.Validate(); err != nil {
		return fmt.Errorf("set up the edges: %w", err)
	}
	if g.Fleet.Nodes == 0 {
		return nil
	}
	if slices.Contains(g.Evictions, model.Clairvoyant) {
		return &GridError{"eviction", string(model.Clairvoyant), "another one with --nodes: it knows the future of one cache"}
	}
	if g.Fleet.Share == model.ShareSightings && !slices.ContainsFunc(g.Policies, policy.Policy.Remembers) {
		return &GridError{"share", string(g.Fleet.Share), policy.OneOf(model.SharesBut(model.ShareSightings)) + " where no policy remembers sightings"}
	}
	return nil
}

// fleetOf says how many edges there are and how they share requests.
func fleetOf(f model.Fleet) string {
	return fmt.Sprintf("%s, %s balancing, share %s", counted(int64(f.Nodes), "edge"), f.Balance, f.Share)
}

// fleetNote says what the figures of a fleet are, "" without one.
func (r *Report) fleetNote() string {
	if r.fleet.Nodes == 0 {
		return ""
	}
	return fleetOf(r.fleet) + "; each has the capacity, the stage and the filter of a row, whose counts are of all; " +
		"a hit is a request that no edge asks the origin for"
}

// peerColumns returns the columns for what edges ask each other.
func (r *Report) peerColumns() []column {
	if !r.fleet.Share.Asks() {
		return nil
	}
	return []column{
		{"between edges", false, func(r *Result) string { return humanize.Comma(r.PeerRequests) }},
		{"bytes between", false, func(r *Result) string { return size(r.PeerBytes) }},
	}
}

// fleetRemark says which edges a recommendation is for, "" for one cache.
func (r *Report) fleetRemark() string {
	if r.fleet.Nodes == 0 {
		return ""
	}
	return "For each edge of this fleet, which these keys do not set up: " + fleetOf(r.fleet) + "."
}
