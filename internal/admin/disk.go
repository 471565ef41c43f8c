package admin

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"
)

// Disk shows what lies on the disk tier, in forms that encoding/json can encode. It is called by many goroutines at once.
type Disk interface {
	// Stats is how much there is.
	Stats() any
	// List shows what is stored, one after the other, until show fails.
	List(show func(any) error) error
	// Verify reads and checks all of it, and shows what is damaged, then how much was read.
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

// errClientLeft ends lines that nobody reads.
var errClientLeft = errors.New("the client has left")

// linesHandler answers by the lines that each shows, as they come. An answer that cannot be completed is cut, so that its reader
// notices.
func linesHandler(each func(show func(any) error) error, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// As long as it takes: it is for operators, and the close of the server ends it.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // without, it ends sooner
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

// lines is an answer of lines of JSON.
type lines struct {
	w       http.ResponseWriter
	encoder *json.Encoder
	ctx     context.Context //nolint:containedctx // of the request that is being answered
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
