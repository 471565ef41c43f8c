package admin

import (
	"context"
	"log/slog"
	"net/http"
	"time"
)

// reloadTimeout bounds the wait for an earlier reload. It is shorter than writeTimeout, to leave time for the answer.
const reloadTimeout = writeTimeout - 5*time.Second

// reloadHandler ignores the body: the file has everything. A reload is completed even if the
// client leaves.
func reloadHandler(reload func(context.Context) (int, any), log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), reloadTimeout)
		defer cancel()
		status, answer := reload(ctx)
		if status == http.StatusServiceUnavailable {
			w.Header().Set("Retry-After", "1")
		}
		if err := writeJSON(w, status, "  ", answer); err != nil {
			log.ErrorContext(ctx, "the answer to a reload cannot be encoded", "error", err)
			writeError(w, http.StatusInternalServerError, "the answer cannot be encoded; see the log")
		}
	})
}
