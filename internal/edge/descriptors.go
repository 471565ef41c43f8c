package edge

import (
	"context"
	"log/slog"
	"slices"

	"edgeproxy/config"
)

// Descriptors that are not those of clients; see docs/operating/sizes.md.
const (
	segmentBytes     = 64 << 20
	segmentFiles     = 3       // for each segmentBytes of the disk
	mostSegments     = 1 << 20 // keeps the sum from overflowing
	copiesShare      = 16      // the part of the limit for copies of large hits
	mostCopies       = 1024
	otherDescriptors = 32 + 2*128 // logs and the like; the connections of the admin and of the metrics listener
)

const connectionsKey = "limits.connections"

// connectionLimit returns how many connections of clients there may be at once: limits.connections, or what limit, that of
// descriptors, leaves beside what else the settings of c need. At least half of the descriptors are for clients:
// max_connections and a large disk may ask for more than is ever used. wanted is how many descriptors all settings together need.
func connectionLimit(c *config.Config, limit int) (connections, wanted int) {
	beside := otherDescriptors + c.Limits.Tunnels + min(limit/copiesShare, mostCopies)
	for i := range c.Origins {
		beside += len(c.Origins[i].Servers) * c.Origins[i].MaxConnections
	}
	for range c.Cache.Disk.Paths {
		beside += segmentFiles * int(min(int64(c.Cache.Disk.MaxBytes)/segmentBytes+1, mostSegments))
	}
	each := 1
	if slices.ContainsFunc(c.Listen, func(l config.Listen) bool { return l.ProxyProtocol }) {
		each = 2 // twice: as many again may wait for their header
	}
	return min(c.Limits.Connections, max(limit-beside, limit/2, each)/each), c.Limits.Connections*each + beside
}

// limitConnections sets how many connections of clients there may be where the process may have so many descriptors, and logs
// if they are fewer than configured. That is a warning where the operator has written the number himself. The default is more
// than many systems allow, and there the first line that everybody saw was a warning.
func (cl *clientSide) limitConnections(descriptors int) {
	var wanted int
	if cl.connectionLimit, wanted = connectionLimit(cl.config, descriptors); cl.connectionLimit >= cl.config.Limits.Connections {
		return
	}
	level := slog.LevelInfo
	if cl.config.Given(connectionsKey, "") != "" {
		level = slog.LevelWarn
	}
	cl.log.Log(context.Background(), level, "limits.connections is lowered: the limit of file descriptors is too low for it",
		"connections", cl.connectionLimit, "configured", cl.config.Limits.Connections, "descriptors", descriptors, "wanted", wanted)
}
