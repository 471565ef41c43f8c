package hostile

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"edgeproxy/internal/test/testkit"
)

// patience keeps an edge that hangs from hanging the tests; nothing waits for it to
// pass.
const patience = testkit.Patience

// errPatience says what never came.
var errPatience = errors.New("did not come about in time")

// stream is what has come in on a connection.
type stream struct {
	mu      sync.Mutex
	text    string
	ended   bool
	reset   bool          // it ended by something else than an end
	changed chan struct{} // closed and replaced with every change
}

func newStream() *stream { return &stream{changed: make(chan struct{})} }

// follow takes in all that comes on c until its end.
func (s *stream) follow(c net.Conn) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := c.Read(buffer)
		s.mu.Lock()
		s.text += string(buffer[:n])
		s.ended, s.reset = err != nil, err != nil && !errors.Is(err, io.EOF)
		close(s.changed)
		s.changed = make(chan struct{})
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// get returns what has come so far.
func (s *stream) get() (text string, ended bool, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text, s.ended, s.changed
}

// wasReset reports whether the stream was torn off.
func (s *stream) wasReset() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reset
}

// wait waits until done says so. It fails when over is closed, and when the stream
// ends before.
func (s *stream) wait(over <-chan struct{}, done func(text string, ended bool) bool) error {
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		text, ended, changed := s.get()
		switch {
		case done(text, ended):
			return nil
		case ended:
			return io.ErrUnexpectedEOF
		}
		select {
		case <-changed:
		case <-over:
			return net.ErrClosed
		case <-limit.C:
			return errPatience
		}
	}
}

// drip writes text in pieces of size bytes, one in each period.
func drip(c net.Conn, text string, size int, period time.Duration, over <-chan struct{}) error {
	pace := time.NewTicker(period)
	defer pace.Stop()
	for text != "" {
		n := min(size, len(text))
		if _, err := io.WriteString(c, text[:n]); err != nil {
			return err
		}
		if text = text[n:]; text == "" {
			return nil
		}
		select {
		case <-pace.C:
		case <-over:
			return net.ErrClosed
		}
	}
	return nil
}
