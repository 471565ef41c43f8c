// Package accesslog writes one line of JSON per request.
//
// It answers one question: what did each client ask for, and what came of it?
//
// The law it keeps: a request never waits for the log. Write encodes the line
// into a bounded queue in memory and returns; one goroutine moves whole batches
// of lines to the file. When the writer is slower than the requests the queue
// fills up and further lines are dropped and counted. Every line is either
// written or counted as dropped, never both, never neither.
//
// A batch is whatever came in while the one before was being written, so a line
// leaves as soon as the writer is free and nothing is held back for a timer:
// one write per line on a quiet proxy, one write for many lines on a busy one.
//
// It does not rotate, compress, sample or sync files, and it does not decide
// which requests are logged.
package accesslog
