package main

import (
	"fmt"
	"strconv"
	"strings"
)

// addTrafficLine counts one request of Traffic Server's log. Its fields are: the result,
// the status and the body bytes sent, the state of the cache write (FIN: complete), and
// the status and bytes of the origin's response. That status is 000 if there was no fetch.
func (c *counts) addTrafficLine(line string) error {
	f := strings.Fields(line)
	if len(f) != 6 {
		return fmt.Errorf("line %q: must have 6 fields", line)
	}
	var n [4]int64
	for i, at := range [...]int{1, 2, 4, 5} {
		var err error
		if n[i], err = strconv.ParseInt(f[at], 10, 64); err != nil {
			return fmt.Errorf("line %q: %w", line, err)
		}
	}
	status, sent, originStatus, fetched := n[0], n[1], n[2], n[3]
	c.requests++
	c.responseBytes += sent
	switch {
	case status >= 400:
		c.failed++
		c.failedBytes += sent
	case strings.HasSuffix(f[0], "_HIT"):
		c.hits++
		c.hitBytes += sent
	}
	if originStatus != 0 {
		c.originRequests++
		c.originBytes += fetched
	}
	if f[3] == "FIN" {
		c.writes++
		c.writeBytes += sent
	}
	return nil
}
