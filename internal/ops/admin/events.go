package admin

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Bounds of GET /events.
const (
	eventEvery     = time.Second
	maxSubscribers = 16
	// eventWrite bounds the write of one event. A client that reads more slowly is disconnected.
	eventWrite = 10 * time.Second
)

// subscribers are the requests that receive events. Each has its own ticker, so without subscribers nothing runs. If there are more
// than maxSubscribers, the oldest of the client with the most ends: nobody who comes is shut out by others that stay. It is safe for
// concurrent use.
type subscribers struct {
	mu     sync.Mutex
	open   []*subscriber // the oldest first
	closed bool          // no more are accepted
}

// subscriber is one of them.
type subscriber struct {
	client string
	quit   chan struct{} // closed to end it
}

// enter adds a subscriber; nil if the server closes.
func (l *subscribers) enter(client string) *subscriber {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	s := &subscriber{client, make(chan struct{})}
	if l.open = append(l.open, s); len(l.open) > maxSubscribers {
		out := l.oldestOfMost()
		close(l.open[out].quit)
		l.open = slices.Delete(l.open, out, out+1)
	}
	return s
}

// oldestOfMost returns the index of the oldest subscriber of the client with the most. If several clients have as many, it is the oldest of all of
// theirs.
func (l *subscribers) oldestOfMost() (at int) {
	of := map[string]int{}
	for _, s := range l.open {
		of[s.client]++
	}
	for i, s := range l.open {
		if of[s.client] > of[l.open[at].client] {
			at = i
		}
	}
	return at
}

// leave removes a subscriber, which enter or end may have ended.
func (l *subscribers) leave(s *subscriber) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.open, s); i >= 0 {
		l.open = slices.Delete(l.open, i, i+1)
	}
}

// end ends all present subscribers. After end(true) no more are accepted.
func (l *subscribers) end(last bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.open {
		close(s.quit)
	}
	l.open, l.closed = nil, l.closed || last
}

// eventsHandler sends the status as server-sent events (WHATWG HTML section 9.2): one at once, then one each second, each on one line.
// It ends when the client leaves or is too slow, when others take its place, when the server closes, and at a reload, because the token may have changed.
func eventsHandler(l *subscribers, status func() any, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			w.Header().Set("Content-Type", "text/event-stream")
			return
		}
		here := l.enter(clientOf(r))
		if here == nil {
			w.Header().Set("Retry-After", "5")
			writeError(w, http.StatusServiceUnavailable, "the program stops")
			return
		}
		defer l.leave(here)
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		tick := time.NewTicker(eventEvery)
		defer tick.Stop()
		for sendEvent(w, status(), log) {
			select {
			case <-tick.C:
			case <-here.quit:
				return
			case <-r.Context().Done():
				return
			}
		}
	})
}

// sendEvent sends one event, and reports whether the client took it in time.
func sendEvent(w http.ResponseWriter, value any, log *slog.Logger) bool {
	var b bytes.Buffer
	b.WriteString("data: ")
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil { // Encode ends the line
		log.Error("the status cannot be encoded", "error", err)
		return false
	}
	b.WriteByte('\n')
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Time{}) // writeTimeout would bound the whole answer
	late := time.AfterFunc(eventWrite, func() { _ = control.SetWriteDeadline(time.Unix(1, 0)) })
	defer late.Stop()
	_, err := w.Write(b.Bytes())
	return err == nil && control.Flush() == nil
}
