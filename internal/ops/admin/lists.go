package admin

import (
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
)

// maxRows bounds the rows that a request may ask for.
const maxRows = 100

// listHandler answers with list(rows). usual is the number of rows if the query has none.
func listHandler(list func(rows int) any, usual int, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rows, why := parseRows(r.URL.RawQuery, usual)
		if why != "" {
			writeError(w, http.StatusBadRequest, why)
			return
		}
		if err := writeJSON(w, http.StatusOK, "  ", list(rows)); err != nil {
			log.ErrorContext(r.Context(), "a list cannot be encoded", "error", err)
			writeError(w, http.StatusInternalServerError, "the list cannot be encoded; see the log")
		}
	})
}

// parseRows parses the query of a list. why is what is wrong with it, "" for nothing.
func parseRows(query string, usual int) (rows int, why string) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return 0, "the query cannot be read: must be n=, the number of rows"
	}
	for name, v := range values {
		switch {
		case name != "n":
			return 0, quote(name) + ": unknown parameter; must be n, the number of rows"
		case len(v) > 1:
			return 0, "n: given twice"
		}
	}
	if !values.Has("n") {
		return usual, ""
	}
	rows, err = strconv.Atoi(values.Get("n"))
	if err != nil || rows < 1 || rows > maxRows {
		return 0, "n: " + quote(values.Get("n")) + ": must be a number of rows from 1 to " + strconv.Itoa(maxRows)
	}
	return rows, ""
}
