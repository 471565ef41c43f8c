package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// peer is another proxy that the suite was run against.
type peer struct {
	Name string `json:"name"`
	// Published says that the scores are those the suite's authors published. The other
	// peers were measured, and configured as the authors do: no default lifetime,
	// validation on.
	Published bool `json:"published"`
}

// label is the peer's name in a table; a star tells published scores.
func (p peer) label() string {
	if p.Published {
		return p.Name + "*"
	}
	return p.Name
}

// peerScores are how many tests hold at each peer.
type peerScores struct {
	Peers []peer `json:"peers"`
	// Groups has a group's counts for each peer: required, optimal, check.
	Groups map[string][][3]int `json:"groups"`
}

// total adds up a peer's groups.
func (s *peerScores) total(peer int) [3]int {
	var sum [3]int
	for _, counts := range s.Groups {
		for k, n := range counts[peer] {
			sum[k] += n
		}
	}
	return sum
}

// index finds a peer by name, -1 if this edition has no scores of it.
func (s *peerScores) index(name string) int {
	for i, p := range s.Peers {
		if p.Name == name {
			return i
		}
	}
	return -1
}

// readPeers reads the scores by edition.
func readPeers(root string) (map[string]*peerScores, error) {
	name := filepath.Join(root, "test", "conformance", "peers.json")
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read the peers' scores: %w", err)
	}
	var out map[string]*peerScores
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, fmt.Errorf("read the peers' scores from %s: %w", name, err)
	}
	for edition, scores := range out {
		for group, counts := range scores.Groups {
			if len(counts) != len(scores.Peers) {
				return nil, fmt.Errorf("%s: %s: %s: %d scores for %d peers", name, edition, group, len(counts), len(scores.Peers))
			}
		}
	}
	return out, nil
}
