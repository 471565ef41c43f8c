package admin

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
)

// maxPurgeBody is the most bytes of a purge request.
const maxPurgeBody = 1 << 20

// purgeAnswer is the body of a purge that was done.
type purgeAnswer struct {
	Purged  purgeTargets `json:"purged"`
	Soft    bool         `json:"soft"`
	Objects int          `json:"objects"`
}

// purgeTargets is always a list, also where the request had one string.
type purgeTargets struct {
	URL []string `json:"url"`
}

// purgeHandler does not look at Content-Type: the guard has refused foreign
// pages already, and a forgotten header should not stop a purge.
func purgeHandler(p Purger, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxPurgeBody))
		if err != nil {
			refuseBody(w, err)
			return
		}
		urls, err := parsePurge(body)
		if err != nil {
			writeError(w, http.StatusBadRequest, err.Error())
			return
		}
		objects, done, err := purgeAll(p, urls)
		log.InfoContext(r.Context(), "purge", "urls", len(urls), "done", done, "objects", objects)
		if err != nil {
			writeError(w, http.StatusBadRequest, err.Error())
			return
		}
		// Strings and numbers can be encoded.
		_ = writeJSON(w, http.StatusOK, "", purgeAnswer{Purged: purgeTargets{URL: urls}, Objects: objects})
	})
}

func refuseBody(w http.ResponseWriter, err error) {
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		writeError(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is over %d bytes", tooLarge.Limit))
		return
	}
	writeError(w, http.StatusBadRequest, "the body could not be read")
}

// purgeAll purges the URLs in order, up to the first that is refused. It goes on
// when the client has left: a purge that was asked for is wanted, and the size
// of the body bounds the work. done is the number of URLs purged.
func purgeAll(p Purger, urls []string) (objects, done int, err error) {
	for i, u := range urls {
		n, err := p.PurgeURL(u)
		if err != nil {
			err = fmt.Errorf("url %s: %w", quote(u), err)
			if i > 0 {
				err = fmt.Errorf("%w (URLs of the list purged before it: %d)", err, i)
			}
			return objects, i, err
		}
		objects += n
	}
	return objects, len(urls), nil
}
