package admin

import (
	"log/slog"
	"net/http"
	"time"
)

// reloadHandler ignores the body: the file has everything. It answers when the reload has ended, however long that takes: an operator
// who gets no answer does not know whether the file is in force. A reload is completed even if the client leaves.
func reloadHandler(reload func() (int, any), log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		_ = control.SetWriteDeadline(time.Time{}) // on an error writeTimeout stays in force
		status, answer := reload()
		late := time.AfterFunc(writeTimeout, func() { _ = control.SetWriteDeadline(time.Unix(1, 0)) })
		defer late.Stop()
		if status == http.StatusServiceUnavailable {
			w.Header().Set("Retry-After", "1")
		}
		if err := writeJSON(w, status, "  ", answer); err != nil {
			log.ErrorContext(r.Context(), "the answer to a reload cannot be encoded", "error", err)
			writeError(w, http.StatusInternalServerError, "the answer cannot be encoded; see the log")
		}
	})
}
