package lines

import (
	"errors"
	"fmt"
	"os"
)

// stdoutPath is the path that means standard output.
const stdoutPath = "-"

// fileMode lets the owner write and the group read: lines hold the addresses
// of clients.
const fileMode = 0o640

// Open returns a log that appends to the file at path. It creates the file with
// mode 0640 if needed. The path "-" is standard output, which is never closed. A
// named pipe is opened even if it has no reader. An empty path is an error.
func Open(path string, o Options) (*Log, error) {
	switch path {
	case "":
		return nil, fmt.Errorf("open %s: the path is empty", o.Name)
	case stdoutPath:
		return start("", os.Stdout, nil, o)
	}
	f, reads, err := openFile(path, false)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", o.Name, err)
	}
	l, err := start(path, f, f, o)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	l.reads.Store(reads)
	return l, nil
}

// Reopen opens the path again, after a rotation has renamed the file. A line whose
// Write returned before Reopen was called goes to the old file, and a line whose
// Write is called after Reopen has returned goes to the new one. No line is lost.
// The old file is closed soon afterwards, but maybe after Reopen has returned. A
// program that compresses it must wait for one more rotation (delaycompress in
// logrotate).
//
// If the path cannot be opened, the log stays with the old file and Reopen returns
// the error. For a log without a path Reopen does nothing. After Close the error is
// ErrClosed.
func (l *Log) Reopen() error {
	if l.path == "" {
		return nil
	}
	f, reads, err := openFile(l.path, l.mayReadPipe())
	if err != nil {
		return fmt.Errorf("reopen %s: %w", l.options.Name, err)
	}
	l.reads.Store(reads)
	unused, ok := l.queue.switchTo(f)
	if unused != nil {
		err = unused.Close()
	}
	if !ok {
		return fmt.Errorf("reopen %s: %w", l.options.Name, errors.Join(ErrClosed, err))
	}
	if err != nil {
		return fmt.Errorf("reopen %s: %w", l.options.Name, err)
	}
	return nil
}

// mayReadPipe reports whether the path is a named pipe whose only reader may be this process.
func (l *Log) mayReadPipe() bool {
	if !l.reads.Load() {
		return false
	}
	info, err := os.Stat(l.path)
	return err == nil && info.Mode()&os.ModeNamedPipe != 0
}
