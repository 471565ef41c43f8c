package admin

import (
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// nonceBytes is the length of the nonce that who asks for sightings sends, in 2 digits a byte.
const nonceBytes = 32

// sightingsHandler answers with what write writes for a nonce. One answer is sent at a time: each reads all of the filters. It aborts an answer that
// cannot be completed, so that the client notices.
func sightingsHandler(write func(w io.Writer, nonce []byte) error, log *slog.Logger) http.Handler {
	var busy sync.Mutex
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		nonce, err := hex.DecodeString(r.URL.Query().Get("nonce"))
		if err != nil || len(nonce) != nonceBytes {
			writeError(w, http.StatusBadRequest, fmt.Sprintf("nonce must be %d random bytes, as %d hexadecimal digits", nonceBytes, 2*nonceBytes))
			return
		}
		if !busy.TryLock() {
			w.Header().Set("Retry-After", "5")
			writeError(w, http.StatusServiceUnavailable, "the sightings are being sent to somebody else: ask again")
			return
		}
		defer busy.Unlock()
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("Cache-Control", "no-store")
		if r.Method == http.MethodHead {
			return
		}
		out := newPacedWriter(w)
		defer out.stop()
		if err := write(out, nonce); err != nil {
			log.WarnContext(r.Context(), "sightings were not sent to the end", "bytes", out.sent, "error", err)
			panic(http.ErrAbortHandler)
		}
		log.InfoContext(r.Context(), "sightings sent", "bytes", out.sent, "client", r.RemoteAddr)
	})
}

// pacedWriter gives each write writeTimeout, in place of the whole answer.
type pacedWriter struct {
	w    io.Writer
	late *time.Timer // ends the connection
	sent int64
}

func newPacedWriter(w http.ResponseWriter) *pacedWriter {
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Time{}) // on an error writeTimeout stays in force
	return &pacedWriter{w: w, late: time.AfterFunc(writeTimeout, func() { _ = control.SetWriteDeadline(time.Unix(1, 0)) })}
}

// Write writes b within writeTimeout.
func (p *pacedWriter) Write(b []byte) (int, error) {
	p.late.Reset(writeTimeout)
	n, err := p.w.Write(b)
	p.sent += int64(n)
	return n, err
}

func (p *pacedWriter) stop() { p.late.Stop() }
