package admin

import (
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
)

// mostRows bounds how many rows of a list may be asked for.
const mostRows = 100

// listHandler answers by what list says of so many rows: usual, where the query says none.
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

// parseRows reads the query of a list; why says what is wrong with it.
func parseRows(query string, usual int) (rows int, why string) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return 0, "the query cannot be read: want n=, the number of rows"
	}
	for name, v := range values {
		switch {
		case name != "n":
			return 0, quote(name) + ": unknown parameter; want n, the number of rows"
		case len(v) > 1:
			return 0, "n: given twice"
		}
	}
	if !values.Has("n") {
		return usual, ""
	}
	rows, err = strconv.Atoi(values.Get("n"))
	if err != nil || rows < 1 || rows > mostRows {
		return 0, "n: " + quote(values.Get("n")) + ": want a number of rows from 1 to " + strconv.Itoa(mostRows)
	}
	return rows, ""
}
