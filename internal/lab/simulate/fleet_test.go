package simulate

import (
	"strings"
	"testing"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/lab/model"
)

// A fleet has a line, two columns and a remark; all else is as for one cache.
func TestTextOfAFleet(t *testing.T) {
	r := replayed(t, zipf(t, 10_000), Grid{
		Policies: []admission.Policy{admission.Always, admission.SecondHit}, Stages: []Amount{{Percent: 10}}, FalsePositiveRates: []float64{1e-5},
		Evictions: lru(), Fleet: model.Fleet{Nodes: 3, Balance: model.BalanceRandom, Share: model.SharePlacement},
	})
	golden(t, "fleet.txt", text(t, r, "zipf:"))
	if lead := r.Page("zipf:").Lead; !strings.Contains(lead, "\nThe fleet: 3 edges, random balancing, share placement; ") {
		t.Errorf("got the lead %q, want the fleet in it", lead)
	}
}

// A number of requests to one edge is no period of the log, whose keys could be counted.
func TestPeriodsOfAnEdgeAreNotCounted(t *testing.T) {
	g := Grid{
		Policies: []admission.Policy{admission.SecondHit}, Rotations: []Rotation{{Unit: ByRequests, Count: 300}},
		Evictions: lru(), Fleet: model.Fleet{Nodes: 2, Balance: model.BalanceHash, Share: model.ShareNone},
	}
	r := replayed(t, zipf(t, 10_000), g)
	got := &r.Groups[0].Results[1]
	if got.keys != 300 || len(r.Advice) != 1 || !strings.Contains(r.Advice[0].YAML, "# capacity: edgeproxy does not rotate by requests; 300 of them have at most 300 keys.\n") {
		t.Errorf("got %d keys, %+v, want as many as the requests", got.keys, r.Advice)
	}
	g.Rotations[0].Count = 1_000_000
	if got := &replayed(t, zipf(t, 10_000), g).Groups[0].Results[1]; got.keys <= 300 || got.keys > 10_000 {
		t.Errorf("got %d keys, want those of the log, and some more", got.keys)
	}
}

// The memory of a wave is that of all edges.
func TestWavesCountEveryEdge(t *testing.T) {
	tr := zipf(t, 10_000)
	groups, err := everything().groups(tr.Facts(), false)
	if err != nil {
		t.Fatal(err)
	}
	const most = 4 << 20
	one := &run{trace: tr, groups: groups, waveBytes: most}
	many := &run{trace: tr, groups: groups, waveBytes: most, fleet: model.Fleet{Nodes: 16}}
	if a, b := len(one.waves(one.points())), len(many.waves(many.points())); b <= a {
		t.Errorf("got %d waves for one cache and %d for 16 edges, want more", a, b)
	}
}
