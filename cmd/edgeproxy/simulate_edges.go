package main

import (
	"fmt"

	"github.com/spf13/pflag"

	"edgeproxy/internal/lab/model"
)

// edges are the flags for a fleet.
type edges struct {
	nodes          int // 0: none was given
	balance, share string
}

func (e *edges) defineFlags(f *pflag.FlagSet) {
	f.Var(&wholeFlag{&e.nodes, 1, model.MostNodes}, "nodes", fmt.Sprintf("`n` edges, 1 to %d, that share the requests, each with a cache of --capacity and a filter of its own; "+
		"a hit is then a request that no edge asks the origin for (default one cache)", model.MostNodes))
	f.Var(oneOf(&e.balance, model.Balances()...), "balance", "which of the --nodes gets a request: random, or hash, by its URL (default random)")
	f.Var(oneOf(&e.share, model.Shares()...), "share", "what the --nodes tell each other: none; placement, where a miss asks the edge that owns the URL; "+
		"digests of what they hold; or sightings. The last two every 1000 requests (default none)")
}

// applyEdges gives the grid its edges.
func (s *simulation) applyEdges() error {
	e := &s.edges
	switch {
	case e.nodes == 0 && e.balance != "":
		return fmt.Errorf("--balance %s: must have --nodes beside it", e.balance)
	case e.nodes == 0 && e.share != "":
		return fmt.Errorf("--share %s: must have --nodes beside it", e.share)
	case e.nodes == 0:
		return nil
	}
	s.grid.Fleet = model.Fleet{Nodes: e.nodes, Balance: model.BalanceRandom, Share: model.ShareNone}
	if e.balance != "" {
		s.grid.Fleet.Balance = model.Balance(e.balance)
	}
	if e.share != "" {
		s.grid.Fleet.Share = model.Share(e.share)
	}
	return nil
}

// wholeFlag is a flag with a whole number from low to high.
type wholeFlag struct {
	value     *int
	low, high int
}

// Set takes the number.
func (w *wholeFlag) Set(text string) (err error) {
	*w.value, err = parseWhole(w.low, w.high)(text)
	return err
}

// String returns nothing: the usage text names the default.
func (w *wholeFlag) String() string { return "" }

// Type names the value in the help.
func (w *wholeFlag) Type() string { return "n" }
