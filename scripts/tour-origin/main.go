// Command tour-origin is the origin of docs/first-hour.md.
//
// It answers one question: what can be shown of edgeproxy with nothing but Go?
// Every path has a short text. It may be stored for a minute, but below
// /private/, where it may not be stored at all.
//
//	tour-origin [HOST:PORT]
//
// It keeps to plain HTTP/1.1 and ends with a signal. It is no test rig: it
// counts nothing and fails in no interesting way.
package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// usualAddress is that of the document.
const usualAddress = "127.0.0.1:9000"

// timeout bounds the reading of a request and the writing of an answer.
const timeout = 10 * time.Second

func main() {
	if err := serve(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "tour-origin:", err)
		os.Exit(1)
	}
}

// serve answers until the listener fails.
func serve(args []string) error {
	address := usualAddress
	switch len(args) {
	case 0:
	case 1:
		address = args[0]
	default:
		return errors.New("must be one address at most, such as " + usualAddress)
	}
	server := &http.Server{Addr: address, Handler: http.HandlerFunc(answer), ReadTimeout: timeout, WriteTimeout: timeout}
	if err := server.ListenAndServe(); err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// answer says which path was asked for.
func answer(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Cache-Control", "max-age=60")
	if strings.HasPrefix(r.URL.Path, "/private/") {
		h.Set("Cache-Control", "no-store")
	}
	_, _ = io.WriteString(w, "the origin's answer to "+r.URL.EscapedPath()+"\n") // a client that left needs none
}
