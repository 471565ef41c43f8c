package admission

import (
	"encoding/binary"
	"fmt"
	"io"
	"time"
)

// stateWriter writes a state. After the first error every call returns it.
type stateWriter struct {
	w     io.Writer
	n     int64
	count uint32
	table []byte
	err   error
}

// newStateWriter begins a state with the seed, saved now.
func newStateWriter(w io.Writer, seed uint64, now time.Time) *stateWriter {
	sw := &stateWriter{w: w}
	head := binary.LittleEndian.AppendUint32(nil, stateVersion)
	head = binary.LittleEndian.AppendUint64(head, seed)
	head = binary.LittleEndian.AppendUint64(head, uint64(now.UnixNano()))
	_, _ = sw.Write(head) // kept in err
	return sw
}

// Write passes b on and counts it.
func (sw *stateWriter) Write(b []byte) (int, error) {
	if sw.err != nil {
		return 0, sw.err
	}
	n, err := sw.w.Write(b)
	sw.n += int64(n)
	sw.err = err
	return n, err
}

// saver writes a section.
type saver interface {
	Save(w io.Writer, now time.Time) error
}

// section writes f under a name.
func (sw *stateWriter) section(name string, f saver, now time.Time) {
	sw.named(name, func() error {
		if err := f.Save(sw, now); err != nil {
			return fmt.Errorf("save the %s filter: %w", name, err)
		}
		return nil
	})
}

// bytes writes b under a name.
func (sw *stateWriter) bytes(name string, b []byte) {
	sw.named(name, func() error {
		_, err := sw.Write(b)
		return err
	})
}

// named adds what write writes to the table.
func (sw *stateWriter) named(name string, write func() error) {
	if sw.err != nil {
		return
	}
	begin := sw.n
	if err := write(); err != nil {
		sw.err = err
		return
	}
	sw.table = append(append(sw.table, byte(len(name))), name...)
	sw.table = binary.LittleEndian.AppendUint64(sw.table, uint64(begin))
	sw.table = binary.LittleEndian.AppendUint64(sw.table, uint64(sw.n-begin))
	sw.count++
}

// close writes the table.
func (sw *stateWriter) close() error {
	tail := binary.LittleEndian.AppendUint32(sw.table, sw.count)
	tail = binary.LittleEndian.AppendUint64(tail, uint64(sw.n))
	_, err := sw.Write(tail)
	return err
}
