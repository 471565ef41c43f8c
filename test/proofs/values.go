package main

import (
	_ "embed"
	"fmt"
	"strings"
)

// reference is a hit ratio and a byte hit ratio in percent, and stores.
type reference struct {
	hits, bytes float64
	writes      int64
}

// staged are those ratios, and the change of the stores into the main part
// against always, in percent.
type staged struct{ hits, bytes, writes float64 }

// values are one row of what another simulator found, whose own check was to give
// the misses that libCacheSim expects of LRU. It kept sightings in exact sets and
// evicted by exact LRU. C is the number of objects of mean size that the capacity
// holds, and the periods were 100 at least.
type values struct {
	share     int64     // a share of the unique bytes, in percent
	capacity  int64     // bytes
	always    reference // everything is stored
	unlimited reference // second-hit with a memory that never forgets
	requests  reference // second-hit, two generations of 4 C requests
	keys      reference // second-hit, two generations of C keys
	counting  reference // more than 4 sightings, never forgotten
	stage1    staged    // the same as requests, with 1 % of the capacity as a stage
	stage10   staged    // 10 %
}

// recorded is a trace and what is known of it.
type recorded struct {
	file, name string
	rows       []values
}

//go:embed values.tsv
var valuesText string

// traces returns the traces with their values, smallest capacity first.
func traces() []recorded {
	out := []recorded{{file: adaptsize, name: "adaptsize"}, {file: nasa, name: "NASA, a day of 1995"}, {file: apache, name: "Apache log of 2015"}}
	for line := range strings.Lines(valuesText) {
		for i := range out {
			if row, ok := strings.CutPrefix(line, out[i].file+"\t"); ok {
				out[i].rows = append(out[i].rows, parseValues(row))
			}
		}
	}
	return out
}

// parseValues reads a row without its trace. It panics where the row is not one of values.tsv.
func parseValues(row string) (v values) {
	text := "%d %d"
	at := []any{&v.share, &v.capacity}
	for _, f := range []*reference{&v.always, &v.unlimited, &v.requests, &v.keys, &v.counting} {
		text, at = text+" %f/%f/%d", append(at, &f.hits, &f.bytes, &f.writes)
	}
	for _, s := range []*staged{&v.stage1, &v.stage10} {
		text, at = text+" %f/%f/%f", append(at, &s.hits, &s.bytes, &s.writes)
	}
	if _, err := fmt.Sscanf(row, text, at...); err != nil {
		panic(fmt.Sprintf("values.tsv: %q: %v", row, err))
	}
	return v
}
