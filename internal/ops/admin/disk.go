package admin

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"
)

// Disk shows the contents of the disk tier, in forms that encoding/json can encode. It is safe for concurrent use.
type Disk interface {
	// Stats returns totals.
	Stats() any
	// List calls show for every stored object, until show fails.
	List(show func(any) error) error
	// Verify reads and checks every record. It calls show for each damaged one, and at the end with the totals.
	Verify(show func(any) error) error
}

func addDisk(routes map[string]route, d Disk, log *slog.Logger) {
	routes["/cache/stats"] = read("the disk tier, in JSON", statusHandler(d.Stats, log))
	routes["/cache/ls"] = read("what is stored on the disk, a line of JSON each", linesHandler(d.List, log))
	routes["/cache/verify"] = route{
		methods: []string{http.MethodPost}, about: "read and check all that is stored on the disk; a line of JSON for each damage, then how much was read",
		handler: linesHandler(d.Verify, log),
	}
}

// errClientLeft ends an answer whose client has left.
var errClientLeft = errors.New("the client has left")

// linesHandler answers with the lines that each shows, as they come. It aborts an answer that cannot be completed, so that the
// client notices.
func linesHandler(each func(show func(any) error) error, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// No time limit: only operators use this, and closing the server ends it.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // on an error writeTimeout stays in force
		l := lines{w: w, encoder: json.NewEncoder(w), ctx: r.Context()}
		l.encoder.SetEscapeHTML(false)
		if r.Method == http.MethodHead {
			l.begin()
			return
		}
		switch err := each(l.show); {
		case err == nil:
			l.begin()
		case !l.begun:
			writeError(w, http.StatusServiceUnavailable, err.Error())
		default:
			log.WarnContext(r.Context(), "a list of the disk tier was cut", "path", r.URL.Path, "error", err)
			panic(http.ErrAbortHandler)
		}
	})
}

// lines is an answer of JSON lines.
type lines struct {
	w       http.ResponseWriter
	encoder *json.Encoder
	ctx     context.Context //nolint:containedctx // context of the request that is being answered
	begun   bool
}

func (l *lines) begin() {
	if !l.begun {
		l.begun = true
		l.w.Header().Set("Content-Type", "application/x-ndjson")
		l.w.WriteHeader(http.StatusOK)
	}
}

func (l *lines) show(line any) error {
	l.begin()
	if l.ctx.Err() != nil || l.encoder.Encode(line) != nil {
		return errClientLeft
	}
	return nil
}
