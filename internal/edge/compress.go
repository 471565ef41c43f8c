package edge

import (
	"strings"

	"edgeproxy/config"
	"edgeproxy/internal/proxy/compress"
)

// compressRules returns a route's compression rules, nil if it compresses nothing. The values were checked when the file was
// loaded.
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
