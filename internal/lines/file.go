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

// Open returns a log that appends to the file at path, which is created with
// mode 0640 if need be. The path "-" is standard output, which is never closed.
// A named pipe is opened whether anybody reads it or not. An empty path is an error.
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

// Reopen opens the path again, for a rotation that has renamed the file. Lines
// of a Write that returned before go to the old file, lines of a Write called
// after Reopen has returned go to the new one; none is lost. The old file is
// closed soon afterwards, not before Reopen returns. A program that compresses it must
// wait for one more rotation (delaycompress in logrotate).
//
// When the path cannot be opened the log stays with the old file and the error
// is returned. A log without a path of its own has nothing to do. After Close
// the error is ErrClosed.
func (l *Log) Reopen() error {
	if l.path == "" {
		return nil
	}
	f, reads, err := openFile(l.path, l.readsPipe())
	if err != nil {
		return fmt.Errorf("reopen %s: %w", l.options.Name, err)
	}
	l.reads.Store(reads)
	unused, ok := l.queue.change(f)
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

// readsPipe reports whether the path is a named pipe of which we may be the only reader.
func (l *Log) readsPipe() bool {
	if !l.reads.Load() {
		return false
	}
	info, err := os.Stat(l.path)
	return err == nil && info.Mode()&os.ModeNamedPipe != 0
}
