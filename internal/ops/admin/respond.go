package admin

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
)

func writeText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text) // an error only means that the client has left
}

// writeJSON encodes the whole value before it answers. So a value that cannot be
// encoded is an error and not half a document.
func writeJSON(w http.ResponseWriter, status int, indent string, value any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // URLs stay readable; nosniff keeps it JSON
	e.SetIndent("", indent)
	if err := e.Encode(value); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // the client may have gone
	return nil
}

// errorBody is the body of every error.
type errorBody struct {
	Error string `json:"error"`
}

func writeError(w http.ResponseWriter, status int, text string) {
	_ = writeJSON(w, status, "", errorBody{Error: text}) // a string can be encoded
}
