// Package lines writes lines to a file, a pipe or standard error.
//
// It answers one question: how are log lines written without making a request wait?
//
// The law it keeps: Write puts a line into a bounded queue in memory and returns. One
// goroutine writes the queue in batches. If the reader is slower than the callers of Write,
// or does not read at all, the queue fills up and further lines are dropped and counted.
// Every line is either written or counted as dropped, never both and never neither. Opening
// and closing never wait long for a reader.
//
// A batch is everything that came in while the batch before was being written. So a line is
// written as soon as the writer is free. A quiet proxy writes line by line, a busy one many
// lines at once. With Options.Gather a busy one also waits a little between two writes: a
// system call and a wake-up for every few lines would cost more than the lines (0092).
//
// Of the content of a line it knows only which characters a line must not have as they are: Unsafe. It does not rotate, compress or sync files.
package lines
