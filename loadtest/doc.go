// Command loadtest replays requests against edgeproxy and reports what each
// admission policy saves.
//
// It answers one question: for these requests and this much memory, what do the
// policies cost and save compared with always, seen from outside? For each policy
// it starts an origin and one edgeproxy process, sends the requests in order at a
// fixed rate, and compares the counts of /metrics. If nginx and Traffic Server are
// installed, they do the same work for comparison.
//
//	requests   replay.go, target.go: a trace prepared for sending
//	sending    driver.go, worker.go, tally.go: the open loop and its measurements
//	proxies    edge*.go; baseline.go, nginx*.go, pacemaker.go, writes_linux.go, traffic*.go, accesslog.go; system_*.go
//	counting   metrics.go, scrape.go, sampler.go into counts.go
//	reporting  report.go, table.go; curvedata.go, curves.go, page.go
//	judging    warnings.go; with a disk forecast.go, thresholds.go (the report calls a threshold a bar)
//
// Its rules: every response is checked (status, validator, length); latency counts
// from the scheduled time, so a stall is charged to all the requests it delayed;
// the proxy's counts are compared with those of the driver and the origin; no
// process and no file is left behind.
//
// It does not simulate: it speaks HTTP only, and asks edgeproxy simulate for a
// forecast. It shares with the proxy only the reading of traces and the drawing of
// pages, and with other measurements how programs are started and read (internal/lab). It does not use the times of a log (the rate is constant), and does not
// measure peak throughput (the loop is open).
package main
