package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// nginxHits are the values of $upstream_cache_status that count as hits.
var nginxHits = []string{"HIT", "STALE", "UPDATING", "REVALIDATED"}

// addNginxLine counts one request. The last fields hold the length of each fetch, or
// "-" for none. There are several if a keep-alive connection turned out to be closed.
func (c *counts) addNginxLine(line string) error {
	f := strings.Fields(line)
	if len(f) < 4 {
		return fmt.Errorf("line %q: must have at least 4 fields", line)
	}
	status, err := strconv.Atoi(f[1])
	if err != nil {
		return fmt.Errorf("line %q: status: %w", line, err)
	}
	bytes, err := strconv.ParseInt(f[2], 10, 64)
	if err != nil {
		return fmt.Errorf("line %q: bytes: %w", line, err)
	}
	c.requests++
	c.responseBytes += bytes
	switch {
	case status >= 400:
		c.failed++
		c.failedBytes += bytes
	case slices.Contains(nginxHits, f[0]):
		c.hits++
		c.hitBytes += bytes
	case f[0] == "BYPASS":
		c.passed++
	}
	for _, fetched := range f[3:] {
		if n, err := strconv.ParseInt(strings.Trim(fetched, ",:"), 10, 64); err == nil {
			c.originRequests++
			c.originBytes += n
		}
	}
	return nil
}
