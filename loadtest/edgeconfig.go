package main

import (
	"fmt"
	"strings"
	"time"

	"edgeproxy/internal/admission/policy"
)

// edgeConfig is what the driver sets in edgeproxy's configuration file. Everything
// else has edgeproxy's defaults.
type edgeConfig struct {
	listen, admin, origin    string // host:port
	rule                     policy.Rule
	rotateEvery              *time.Duration // nil = edgeproxy's default
	filterCapacity           int64          // 0 = edgeproxy's default
	maxBytes, maxObjectBytes int64
	stageBytes               int64 // 0 = no stage
	disk                     diskFolder
	diskBytes, diskObjects   int64 // 0 = no disk; the largest body there
}

// yaml returns the file. It writes a policy's section only if it is not empty:
// edgeproxy refuses sections of policies that no route uses.
func (c *edgeConfig) yaml() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "listen:\n  - address: %q\n", c.listen)
	fmt.Fprintf(&b, "admin:\n  address: %q\n", c.admin)
	fmt.Fprintf(&b, "origins:\n  app:\n    servers: [%q]\n", "http://"+c.origin)
	fmt.Fprintf(&b, "admission:\n  policy: %s\n", c.rule.Policy)
	if section := c.section(); section != "" {
		fmt.Fprintf(&b, "  %s:\n%s", c.rule.Policy.Section(), section)
	}
	fmt.Fprintf(&b, "cache:\n  memory:\n    max_bytes: %dB\n    max_object_bytes: %dB\n    stage_bytes: %dB\n", c.maxBytes, c.maxObjectBytes, c.stageBytes)
	if c.diskBytes > 0 {
		fmt.Fprintf(&b, "  disk:\n    path: %q\n    max_bytes: %dB\n    max_object_bytes: %dB\n", c.disk, c.diskBytes, c.diskObjects)
	}
	b.WriteString("log:\n  level: warn\n")
	return []byte(b.String())
}

func (c *edgeConfig) section() string {
	var b strings.Builder
	if p := c.rule.Policy.Parameter(); p != nil {
		fmt.Fprintf(&b, "    %s: %s\n", p.Name, policy.Number(p.Of(c.rule)))
	}
	if c.rotateEvery != nil {
		fmt.Fprintf(&b, "    rotate_every: %s\n", *c.rotateEvery)
	}
	if c.filterCapacity > 0 {
		fmt.Fprintf(&b, "    capacity: %d\n", c.filterCapacity)
	}
	return b.String()
}
