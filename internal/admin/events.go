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
	eventEvery    = time.Second
	mostListeners = 16
	// eventWrite is how long one event may wait for its reader. A reader that takes longer is let go.
	eventWrite = 10 * time.Second
)

// listeners are those who read events. Each is a request of its own, with its own clock: while there is none, nothing runs. It is safe
// for concurrent use.
type listeners struct {
	mu   sync.Mutex
	n    int
	quit chan struct{} // closed to end all that listen now; nil: no more may come
}

func newListeners() *listeners { return &listeners{quit: make(chan struct{})} }

// enter takes one more in, and returns what ends it; nil where there are too many, or the server closes.
func (l *listeners) enter() (quit <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.quit == nil || l.n >= mostListeners {
		return nil
	}
	l.n++
	return l.quit
}

func (l *listeners) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n--
}

// end ends all that listen now; last says that no more may come.
func (l *listeners) end(last bool) {
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

// eventsHandler sends the status as server-sent events (WHATWG HTML section 9.2): one at once, and one each second, each in one line. It
// ends when its reader leaves or is too slow, when the server closes, and at a reload, since the token may be another one then.
func eventsHandler(l *listeners, status func() any, log *slog.Logger) http.Handler {
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

// sendEvent sends one event, and reports whether its reader took it in time.
func sendEvent(w http.ResponseWriter, value any, log *slog.Logger) bool {
	var b bytes.Buffer
	b.WriteString("data: ")
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil { // which ends the line
		log.Error("the status cannot be encoded", "error", err)
		return false
	}
	b.WriteByte('\n')
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Time{}) // that of the server is of the whole answer
	late := time.AfterFunc(eventWrite, func() { _ = control.SetWriteDeadline(time.Unix(1, 0)) })
	defer late.Stop()
	_, err := w.Write(b.Bytes())
	return err == nil && control.Flush() == nil
}
