// Package syslog sends lines to a syslog server, as messages of RFC 5424.
//
// It answers: how does a line of a log reach a server by UDP, by TCP or by a socket in the file system, and what if that one is away?
//
// The law it keeps: it sends each line whole or reports it as not written. A server that is away is tried again
// for ten seconds; then the lines at hand are given up. By UDP nobody learns what was lost on the way, and by TCP not what a server had not
// read when it ended.
//
// It has no queue: that is internal/ops/lines, which passes batches of lines to a Writer.
package syslog
