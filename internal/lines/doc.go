// Package lines writes lines to a file, a pipe or standard error.
//
// It answers one question: how does a log reach its reader without anybody waiting
// for it?
//
// The law it keeps: Write takes a line into a bounded queue in memory and returns; one
// goroutine writes them in batches. When the reader is slower than the callers of Write, or
// does not read at all, the queue fills up and further lines are dropped and counted. Every line is either written or counted as dropped, never both, never
// neither. Neither opening nor closing waits for a reader for long.
//
// A batch is all that came in while the one before was being written. So a line leaves as
// soon as the writer is free. A quiet proxy writes line by line, a busy one many lines at
// once. With Options.Gather a busy one also waits a little between two writes: a system call
// and the waking of the writer for every few lines cost more than the lines (0092).
//
// It does not know what a line says. It does not rotate, compress or sync files.
package lines
