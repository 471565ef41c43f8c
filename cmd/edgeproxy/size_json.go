package main

import (
	"encoding/json"
	"io"

	"edgeproxy/internal/admission/size"
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
	Config      *sizeConfig `json:"config"` // null if the proxy has no such setting
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
func (a sizeAnswer) writeJSON(w io.Writer) error {
	r := a.Request
	d := sizeDocument{
		Keys: r.Keys, Rate: r.Rate, Bits: r.Bits, MemoryBytes: r.Bytes, Hashes: r.Hashes, Generations: r.Generations,
	}
	for _, result := range a.Results {
		d.Results = append(d.Results, entryOf(result))
	}
	if a.WhyNone == "" {
		s := a.Setting
		d.Config = &sizeConfig{s.Policy.String(), s.Options.Generations, s.Options.Capacity, s.Options.FalsePositiveRate, s.Bytes(s.Options)}
	}
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(d)
}

func entryOf(r size.Result) sizeEntry {
	e := sizeEntry{Layout: r.Layout.Name}
	if r.Err != nil {
		e.Error = r.Err.Error()
		return e
	}
	of := func(f size.Filter) sizeFilter {
		return sizeFilter{f.Keys, f.Bits, f.Hashes, f.BitsPerKey(), f.Bytes(), f.Rate}
	}
	filter, w := of(r.Filter), r.Window
	e.Filter = &filter
	e.Window = &sizeWindow{of(w.Each), w.Guaranteed(), w.Most(), w.BitsPerKey(), w.Bytes(), w.Peak, w.Mean}
	return e
}
