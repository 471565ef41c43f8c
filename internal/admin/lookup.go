package admin

import (
	"cmp"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
)

// mostLookupFields is how many header fields a look-up may have. MaxHeaderBytes of the server bounds their length.
const mostLookupFields = 64

// lookupHandler answers by what Lookup says. Its query is as strict as a purge: a parameter that is misspelt would ask for something else
// than was meant.
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

// parseLookup reads the query of a look-up; why says what is wrong with it.
func parseLookup(query string) (method, about string, fields [][2]string, why string) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return "", "", nil, "the query cannot be read: want url=, percent-encoded"
	}
	for name, v := range values {
		switch name {
		case "header":
		case "url", "method":
			if len(v) > 1 {
				return "", "", nil, name + ": given twice"
			}
		default:
			return "", "", nil, quote(name) + ": unknown parameter; want url, method or header"
		}
	}
	if len(values["header"]) > mostLookupFields {
		return "", "", nil, "header: too many fields"
	}
	for _, line := range values["header"] {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return "", "", nil, "header: want NAME: VALUE, such as Accept-Language: de"
		}
		fields = append(fields, [2]string{strings.TrimSpace(name), strings.Trim(value, " \t")})
	}
	if about = values.Get("url"); about == "" {
		return "", "", nil, "url: want an absolute URL such as http://example.com/path?query, percent-encoded"
	}
	return cmp.Or(values.Get("method"), http.MethodGet), about, fields, ""
}
