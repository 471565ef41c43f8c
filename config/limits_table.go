package config

import "time"

func (l *Limits) table() table {
	return table{
		restart("header_bytes", size(&l.HeaderBytes, 16*KiB).atLeast(KiB).atMost(maxHeaderBytes, "each connection has a buffer of this size"),
			"The size of a request's head. Each connection has a buffer of this size."),
		live("header_count", count(&l.HeaderCount, 100).between(1, maxCount), "Fields in a request's head."),
		live("target_bytes", size(&l.TargetBytes, 8*KiB).atLeast(64), "The size of a request's target; at most header_bytes.").asDependent(),
		live("body_bytes", size(&l.BodyBytes, GiB).atLeast(1), "The size of a request's body."),
		restart("header_timeout", duration(&l.HeaderTimeout, 10*time.Second).moreThan(0), "The time from the first byte of a head to its last."),
		live("read_idle_timeout", duration(&l.ReadIdleTimeout, 30*time.Second).moreThan(0), "The time between two reads of a request's body."),
		restart("write_idle_timeout", duration(&l.WriteIdleTimeout, 30*time.Second).moreThan(0), "A client that reads nothing for this time is cut."),
		section("send_rate", func() table { return paceTable(&l.SendRate).asRestart() }, "A client that reads its response more slowly is cut."),
		section("receive_rate", func() table { return paceTable(&l.ReceiveRate) }, "A client that sends a request's body more slowly, while the proxy waits for it, is cut."),
		restart("request_buffer", size(&l.RequestBuffer, 64*KiB).atMost(maxRequestBuffer, "each request under way may take that much memory"),
			"How much of a request's body is read before a connection to the origin is taken."),
		restart("response_buffer", size(&l.ResponseBuffer, MiB).atLeast(minResponseBuffer).withBounds("at most three quarters of inflight_bytes"),
			"How far a response is read ahead of its client, while inflight_bytes has room.").asDependent(),
		restart("spool_path", textual(&l.SpoolPath, ""), "A folder where more is read ahead, in files without a name, so that origins need not wait for slow clients.").withExample("/var/spool/edgeproxy"),
		restart("spool_bytes", size(&l.SpoolBytes, GiB).atLeast(MiB), "The size of all files in spool_path."),
		restart("pinned_bytes", size(&l.PinnedBytes, 0).withBounds("0B, or max_object_bytes or more"),
			"The size of all bodies that have left the cache and are still being sent; 0B is a quarter of max_bytes.").asDependent(),
		live("upgrade_idle_timeout", duration(&l.UpgradeIdleTimeout, time.Hour).moreThan(0), "WebSockets and other upgrades end after this time without a byte from either side."),
		restart("keepalive_timeout", duration(&l.KeepaliveTimeout, 60*time.Second).moreThan(0), "An idle connection of a client is closed after this."),
		restart("connections", count(&l.Connections, 65536).between(1, maxCount), "Connections of all clients, on all listeners."),
		restart("connections_per_address", count(&l.PerAddress, 0).between(0, maxCount),
			"Connections of one client; 0 is no limit. An IPv6 client is its /64."),
		live("requests_in_flight", count(&l.RequestsInFlight, 10000).between(1, maxCount), "Requests served at once."),
		live("tunnels", count(&l.Tunnels, 1024).between(1, maxCount), "Connections that speak another protocol, such as WebSockets."),
		restart("origin_share", share(&l.OriginShare),
			"The share of tunnels, requests_in_flight, encoders and connections to an origin that one client may hold while less than a quarter is free; 1 is all."),
		restart("inflight_bytes", size(&l.InflightBytes, 64*MiB).atLeast(1), "The memory for bodies in transfer: those to be stored, and what is read ahead of clients."),
		restart("inflight_share", share(&l.InflightShare), "The share of inflight_bytes that one client may hold while less than a quarter is free; 1 is all."),
		restart("variants", count(&l.MaxVariants, 32).between(1, maxCount), "Variants of one URL (Vary) that are stored, in memory and on the disk each."),
		live("ranges", count(&l.Ranges, 16).between(1, maxRanges), "Ranges of one request; a request for more gets the whole response."),
		live("range_amplification", count(&l.RangeAmplification, 16).between(0, maxCount),
			"Bytes that are fetched from an origin for each byte that ranges of what is not stored ask for, at most: a smaller range is forwarded as it is, and not stored; 0 is no limit."),
		section("rate", func() table { return rateTable(&l.Rate) }, "How often one client may request one route, hits included. A route may have its own."),
	}
}

// share is the share that one client may have; 1 is all.
func share(field *float64) *number[float64] {
	return ratio(field, 0.125).moreThan(0).atMost(1).withError("must be more than 0, and at most 1; 1 is no limit")
}

// maxRanges bounds the cost of one request: each of its ranges is compared with every other.
const maxRanges = 1000

// maxHeaderBytes bounds the memory of a connection: it has a buffer for a whole head.
const maxHeaderBytes = MiB
