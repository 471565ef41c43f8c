// Command loadtest replays requests against edgeproxy and says what each
// admission policy saves.
//
// It answers one question: for these requests and this much memory, what do the
// policies cost and save beside always, as an operator sees it from outside? For
// each policy it starts an origin of its own and one edgeproxy process, sends the
// requests in order at a fixed rate, and compares what /metrics counted. Where they
// are there, nginx and Traffic Server do the same work beside it.
//
//	requests   replay.go, target.go: a trace made fit for sending
//	sending    driver.go, worker.go, tally.go: the open loop and what it saw
//	proxies    process.go; edge*.go; baseline.go, nginx*.go, pacemaker.go, writes_linux.go, traffic*.go, accesslog.go
//	counting   metrics.go, scrape.go, sampler.go into counts.go
//	reporting  report.go, table.go; track.go, curves.go, page.go
//	judging    judge.go; with a disk foretold.go, bars.go
//
// Its laws: every response is checked (status, validator, length); latency counts
// from the scheduled time, so a stall is charged to all the requests it delayed;
// what the proxy counted is compared with what the driver and the origin counted;
// no process and no file is left behind.
//
// It does not simulate (it speaks HTTP only, has edgeproxy simulate say what is to be expected, and shares nothing with the proxy but
// the reading of traces and the drawing of pages), does not read the times of a log
// (the rate is constant), and measures no peak throughput (the loop is open).
package main
