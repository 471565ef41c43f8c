// Command bench answers one question: what does a hit in memory cost, or a miss, beside others?
//
// It starts the built edgeproxy and, beside it, a bare fasthttp handler that
// answers the same bodies from a map with five header fields, and asks both in
// turn over loopback: A B B A, so that a slow moment of the machine meets both.
// The cost is the CPU time of the server's process per request, read from /proc,
// and the verdict the median of the ratios of neighbouring rounds. A size above
// --max-ratio is measured once more, and all its rounds decide; if it stays
// above, the exit code is 1.
//
// With --base it compares two edgeproxies instead, by hits and by misses, stored and not, in pairs: both are started
// anew for each, filled with the same pages and asked in turn, which goes first alternates, and the verdict is the
// median of the ratios, with the interval that has the true one in 95 of 100 runs. Stored misses are measured in full caches.
//
// With --log it compares edgeproxy that writes a line of its access log for each hit, to a file in the folder for temporary files, with
// one that writes none, in pairs as well. Where nginx is installed it measures nginx's log in the same way; no ratio of nginx fails.
//
// With --peers it compares edgeproxy with nginx, HAProxy and Varnish, as far as they are
// installed, and with the least that a fasthttp program can do: hits, misses that are stored and
// misses that are not, hits by HTTP/2 (asked for by h2load), and handshakes of TLS 1.3. All are
// up at once, and each round asks all of them in turn. Last it sends hits to each cache by one
// timetable, at half the peak rate of the slowest of them, and compares the times within which
// 99 of 100 are answered, and how long hits take that come from a device, alone and beside writes to it.
// Before misses are stored the caches in memory are filled, so that each has to evict. --only chooses among these works.
//
// With --many it fills the cache with so many objects of 200 bytes, and measures hits in an open loop at
// 10,000 requests a second, what the collector takes, and memory: with 10,000 objects, with all of them, and
// while others are stored and some evicted.
//
// With --profile it has edgeproxy answer hits and misses, and writes where the CPU time went: what
// cmd/edgeproxy/default.pgo is, by which the compiler chooses what to inline.
//
// The law: nothing counts but whole answers that are hits. The client looks at
// every head, and an answer that is not a hit ends the run.
//
// The package's test watches the system calls of the same program: one read and
// one write for each hit, and no copy of a body of 16 KiB or more.
//
// scene.go starts what a measurement needs, work.go measures the CPU time of a work, client.go and openloop_linux.go ask, and a file for
// each way to compare says what: hits.go, pairs.go, logged.go, peers.go with field.go, many.go, profile.go.
//
// It measures no throughput, and it runs on Linux only.
package main
