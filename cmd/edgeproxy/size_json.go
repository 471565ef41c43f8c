package main

import (
	"encoding/json"
	"io"
)

// sizeDocument is the answer as JSON. Rates and ratios lie in [0, 1].
type sizeDocument struct {
	Keys        uint64      `json:"keys,omitempty"` // what was given
	Rate        float64     `json:"false_positive_rate,omitempty"`
	Bits        uint64      `json:"bits,omitempty"`
	MemoryBytes uint64      `json:"memory_bytes,omitempty"`
	Hashes      int         `json:"hashes,omitempty"`
	Generations int         `json:"generations"`
	Results     []sizeEntry `json:"results"`
	Config      *sizeConfig `json:"config"` // null where the proxy cannot do it
}

type sizeEntry struct {
	Layout string      `json:"layout"`
	Error  string      `json:"error,omitempty"`
	Filter *sizeFilter `json:"filter"`
	Window *sizeWindow `json:"window"`
}

type sizeFilter struct {
	Keys        uint64  `json:"keys"`
	Bits        uint64  `json:"bits"`
	Hashes      int     `json:"hashes"`
	BitsPerKey  float64 `json:"bits_per_key"`
	MemoryBytes uint64  `json:"memory_bytes"`
	Rate        float64 `json:"false_positive_rate"`
}

type sizeWindow struct {
	Generation  sizeFilter `json:"generation"`
	Guaranteed  uint64     `json:"guaranteed_keys"`
	Most        uint64     `json:"most_keys"`
	BitsPerKey  float64    `json:"bits_per_guaranteed_key"`
	MemoryBytes uint64     `json:"memory_bytes"`
	Peak        float64    `json:"peak_false_positive_rate"`
	Mean        float64    `json:"mean_false_positive_rate"`
}

type sizeConfig struct {
	Policy      string  `json:"policy"`
	Generations int     `json:"generations"`
	Capacity    int64   `json:"capacity"`
	Rate        float64 `json:"false_positive_rate"`
	MemoryBytes uint64  `json:"memory_bytes"`
}

// writeJSON writes the answer as one document.
func (a *sizeAnswer) writeJSON(w io.Writer) error {
	r := a.request
	d := sizeDocument{
		Keys: r.keys, Rate: r.rate, Bits: r.bits, MemoryBytes: r.bytes, Hashes: r.hashes, Generations: r.generations,
	}
	for _, result := range a.results {
		d.Results = append(d.Results, entryOf(result))
	}
	if a.noteOf == "" {
		s := a.setting
		d.Config = &sizeConfig{string(s.policy), s.options.Generations, s.options.Capacity, s.options.FalsePositiveRate, s.bytes(s.options)}
	}
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(d)
}

func entryOf(r sizeResult) sizeEntry {
	e := sizeEntry{Layout: r.layout.name}
	if r.err != nil {
		e.Error = r.err.Error()
		return e
	}
	of := func(f sizedFilter) sizeFilter {
		return sizeFilter{f.keys, f.bits, f.hashes, f.bitsPerKey(), f.bytes(), f.rate}
	}
	filter, w := of(r.filter), r.window
	e.Filter = &filter
	e.Window = &sizeWindow{of(w.each), w.guaranteed(), w.most(), w.bitsPerKey(), w.bytes(), w.peak, w.mean}
	return e
}
