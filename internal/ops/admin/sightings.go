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

const (
	nonceBytes = 32               // length of the nonce of a request for sightings, and of its proof
	sendTime   = 10 * time.Minute // time of a whole answer
)

// Sightings are the filters of admission, for an edge of the same site. It is safe for concurrent use.
type Sightings interface {
	// Proven reports whether who sent nonce and proof has the secret of the site.
	Proven(nonce, proof []byte) bool
	// Send writes the filters to w, sealed for who sent the nonce.
	Send(w io.Writer, nonce []byte) error
}

// sightingsHandler sends the filters to who proves to have the secret, to one at a time: each answer reads all of them. busy is held meanwhile. It
// aborts an answer that cannot be completed, so that the client notices.
func sightingsHandler(s Sightings, busy *sync.Mutex, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		nonce, isHex := hex.DecodeString(r.URL.Query().Get("nonce"))
		proof, isProof := hex.DecodeString(r.URL.Query().Get("proof"))
		if isHex != nil || isProof != nil || len(nonce) != nonceBytes || len(proof) != nonceBytes {
			writeError(w, http.StatusBadRequest, fmt.Sprintf("nonce and proof must be %d bytes each, as %d hexadecimal digits; edgeproxy state fetch sends them", nonceBytes, 2*nonceBytes))
			return
		}
		if !s.Proven(nonce, proof) {
			log.WarnContext(r.Context(), "sightings refused: asked for with another secret", "client", r.RemoteAddr)
			writeError(w, http.StatusForbidden, "the fleet's secret here is another one")
			return
		}
		if !busy.TryLock() {
			w.Header().Set("Retry-After", "5")
			writeError(w, http.StatusServiceUnavailable, "the sightings are being sent to another edge: ask again")
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
		if err := s.Send(out, nonce); err != nil {
			log.WarnContext(r.Context(), "sightings were not sent to the end", "bytes", out.sent, "client", r.RemoteAddr, "error", err)
			panic(http.ErrAbortHandler)
		}
		log.InfoContext(r.Context(), "sightings sent", "bytes", out.sent, "client", r.RemoteAddr)
	})
}

// pacedWriter gives each write writeTimeout and all of them sendTime, in place of writeTimeout for the whole answer.
type pacedWriter struct {
	w         io.Writer
	late, end *time.Timer // either ends the connection
	sent      int64
}

func newPacedWriter(w http.ResponseWriter) *pacedWriter {
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Time{}) // on an error writeTimeout stays in force
	cut := func() { _ = control.SetWriteDeadline(time.Unix(1, 0)) }
	return &pacedWriter{w: w, late: time.AfterFunc(writeTimeout, cut), end: time.AfterFunc(sendTime, cut)}
}

// Write writes b within writeTimeout.
func (p *pacedWriter) Write(b []byte) (int, error) {
	p.late.Reset(writeTimeout)
	n, err := p.w.Write(b)
	p.sent += int64(n)
	return n, err
}

func (p *pacedWriter) stop() {
	p.late.Stop()
	p.end.Stop()
}
