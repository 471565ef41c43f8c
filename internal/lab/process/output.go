package process

import (
	"bytes"
	"encoding/json"
	"io"
	"sync"
)

// tailBytes is how much of the end of the output is kept.
const tailBytes = 16 << 10

// output takes what a process says: it keeps the end, for messages, and looks for an address. It is safe for concurrent use.
type output struct {
	to    io.Writer // nil is nothing
	finds func(line string) string
	found chan string // takes one without a reader

	mu   sync.Mutex
	tail []byte
	line []byte // what was begun and not ended
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tail = append(o.tail, p...)
	if over := len(o.tail) - tailBytes; over > 0 {
		o.tail = append(o.tail[:0], o.tail[over:]...)
	}
	if o.finds != nil {
		o.line = append(o.line, p...)
		o.find()
	}
	if o.to == nil {
		return len(p), nil
	}
	return o.to.Write(p)
}

// find sends the address of the first line that has one.
func (o *output) find() {
	for {
		line, rest, ended := bytes.Cut(o.line, []byte("\n"))
		if !ended {
			return
		}
		o.line = rest
		if address := o.finds(string(line)); address != "" {
			o.found <- address
			o.finds, o.line = nil, nil
			return
		}
	}
}

// String returns the kept end.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.tail)
}

// EdgeAddress finds edgeproxy's address in a line of its log.
func EdgeAddress(line string) string {
	var entry struct {
		Message   string   `json:"msg"`
		Addresses []string `json:"addresses"`
	}
	if json.Unmarshal([]byte(line), &entry) != nil || entry.Message != "serving" || len(entry.Addresses) == 0 {
		return ""
	}
	return entry.Addresses[0]
}
