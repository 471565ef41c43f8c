// Package lines writes lines to a file, a pipe or standard error.
//
// It answers one question: how does a log reach its reader without anybody waiting
// for it?
//
// The law it keeps: Write takes a line into a bounded queue in memory and returns; one
// goroutine moves whole batches of lines on. When the reader is slower than those who
// write, or does not read at all, the queue fills up and further lines are dropped and
// counted. Every line is either written or counted as dropped, never both, never
// neither. Neither opening nor closing waits for a reader for long.
//
// A batch is whatever came in while the one before was being written, so a line
// leaves as soon as the writer is free and nothing is held back for a timer:
// one write per line on a quiet proxy, one write for many lines on a busy one.
//
// It does not know what a line says. It does not rotate, compress or sync files.
package lines
