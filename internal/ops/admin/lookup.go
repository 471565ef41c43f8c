package admin

import (
	"cmp"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
)

// maxLookupFields bounds the header fields of a lookup. The server's MaxHeaderBytes bounds their length.
const maxLookupFields = 64

// lookupHandler answers with the result of Lookup. It parses the query as strictly as a purge: a misspelt parameter must not ask for
// something else than was meant.
func lookupHandler(lookup func(method, url string, fields [][2]string) (any, error), log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		method, about, fields, why := parseLookup(r.URL.RawQuery)
		if why != "" {
			writeError(w, http.StatusBadRequest, why)
			return
		}
		answer, err := lookup(method, about, fields)
		if err != nil {
			writeError(w, http.StatusBadRequest, err.Error())
			return
		}
		if err := writeJSON(w, http.StatusOK, "  ", answer); err != nil {
			log.ErrorContext(r.Context(), "a look-up cannot be encoded", "error", err)
			writeError(w, http.StatusInternalServerError, "the look-up cannot be encoded; see the log")
		}
	})
}

// parseLookup parses the query of a lookup. why is what is wrong with it, "" for nothing.
func parseLookup(query string) (method, about string, fields [][2]string, why string) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return "", "", nil, "the query cannot be read: must be url=, percent-encoded"
	}
	for name, v := range values {
		switch name {
		case "header":
		case "url", "method":
			if len(v) > 1 {
				return "", "", nil, name + ": given twice"
			}
		default:
			return "", "", nil, quote(name) + ": unknown parameter; must be url, method or header"
		}
	}
	if len(values["header"]) > maxLookupFields {
		return "", "", nil, "header: too many fields"
	}
	for _, line := range values["header"] {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return "", "", nil, "header: must be NAME: VALUE, such as Accept-Language: de"
		}
		fields = append(fields, [2]string{strings.TrimSpace(name), strings.Trim(value, " \t")})
	}
	if about = values.Get("url"); about == "" {
		return "", "", nil, "url: must be an absolute URL such as http://example.com/path?query, percent-encoded"
	}
	return cmp.Or(values.Get("method"), http.MethodGet), about, fields, ""
}
