package main

import (
	"strings"

	"edgeproxy/config"
	"edgeproxy/internal/compress"
)

// compressRules are those of a route, nil where it compresses nothing. The words were checked with the file.
func compressRules(c *config.Compress) *compress.Rules {
	if len(c.Codings) == 0 {
		return nil
	}
	r := &compress.Rules{MinBytes: int64(c.MinBytes)}
	r.Level, _ = compress.LevelOf(string(c.Level))
	for _, t := range c.Types {
		r.Types = append(r.Types, strings.ToLower(t))
	}
	for _, name := range c.Codings {
		if coding, ok := compress.CodingOf(string(name)); ok {
			r.Codings = append(r.Codings, coding)
		}
	}
	return r
}
