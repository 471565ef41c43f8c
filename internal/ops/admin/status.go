package admin

import (
	"log/slog"
	"net/http"
)

func statusHandler(status func() any, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := writeJSON(w, http.StatusOK, "  ", status()); err != nil {
			log.ErrorContext(r.Context(), "status cannot be encoded", "error", err)
			writeError(w, http.StatusInternalServerError, "the status cannot be encoded; see the log")
		}
	})
}
