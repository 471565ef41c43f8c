package admin

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
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

// subscribers counts the requests that receive events. Each request has its own ticker, so without subscribers nothing runs. It is
// safe for concurrent use.
type subscribers struct {
	mu   sync.Mutex
	n    int
	quit chan struct{} // closed to end all present subscribers; nil: no more are accepted
}

func newSubscribers() *subscribers { return &subscribers{quit: make(chan struct{})} }

// enter adds a subscriber, and returns the channel whose close ends it; nil if there are too many, or the server closes.
func (l *subscribers) enter() (quit <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.quit == nil || l.n >= maxSubscribers {
		return nil
	}
	l.n++
	return l.quit
}

func (l *subscribers) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n--
}

// end ends all present subscribers. After end(true) no more are accepted.
func (l *subscribers) end(last bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.quit == nil {
		return
	}
	close(l.quit)
	if l.quit = make(chan struct{}); last {
		l.quit = nil
	}
}

// eventsHandler sends the status as server-sent events (WHATWG HTML section 9.2): one at once, then one each second, each on one line.
// It ends when the client leaves or is too slow, when the server closes, and at a reload, because the token may have changed.
func eventsHandler(l *subscribers, status func() any, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		quit := l.enter()
		if quit == nil {
			w.Header().Set("Retry-After", "5")
			writeError(w, http.StatusServiceUnavailable, "too many listen to /events, or the program stops")
			return
		}
		defer l.leave()
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		if r.Method == http.MethodHead {
			return
		}
		tick := time.NewTicker(eventEvery)
		defer tick.Stop()
		for sendEvent(w, status(), log) {
			select {
			case <-tick.C:
			case <-quit:
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
