package admin

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
)

// maxPurgeBody bounds the body of a purge request in bytes, and so the number of
// values.
const maxPurgeBody = 1 << 20

// purgeAnswer is the answer to a successful purge.
type purgeAnswer struct {
	// Purged has the member of the request: a list, even if the request had a single
	// string, or true for all.
	Purged  map[string]any `json:"purged"`
	Soft    bool           `json:"soft"`
	Objects *int           `json:"objects"` // nil: not counted
}

// purgeHandler ignores Content-Type: the guard has refused foreign pages already,
// and a missing header should not stop a purge.
//
// A purge is completed even if the client leaves. The size of the body bounds the
// work.
func purgeHandler(p Purger, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxPurgeBody))
		if err != nil {
			refuseBody(w, err)
			return
		}
		order, err := parsePurge(body)
		if err != nil {
			writeError(w, http.StatusBadRequest, err.Error())
			return
		}
		objects, counted, err := p.Purge(order.by, order.values, order.soft)
		if purgedAnyway(err) { // purged, but the purge may be lost at a restart
			log.ErrorContext(r.Context(), "purge", "by", order.by, "values", len(order.values), "soft", order.soft, "error", err)
			writeError(w, http.StatusInternalServerError, err.Error())
			return
		}
		if err != nil {
			log.InfoContext(r.Context(), "purge refused", "by", order.by, "values", len(order.values), "error", err)
			writeError(w, http.StatusBadRequest, err.Error())
			return
		}
		said := log.With("by", order.by, "values", len(order.values), "soft", order.soft)
		if counted {
			said = said.With("objects", objects)
		}
		said.InfoContext(r.Context(), "purge")
		// Strings and numbers can be encoded.
		_ = writeJSON(w, http.StatusOK, "", order.answer(objects, counted))
	})
}

// purgedAnyway reports whether err is of a purge that has taken effect.
func purgedAnyway(err error) bool {
	e, ok := errors.AsType[interface {
		error
		Purged() bool
	}](err)
	return ok && e.Purged()
}

func (o purgeOrder) answer(objects int, counted bool) purgeAnswer {
	a := purgeAnswer{Purged: map[string]any{o.by: o.values}, Soft: o.soft}
	if o.by == purgeAll {
		a.Purged[purgeAll] = true
	}
	if counted {
		a.Objects = &objects
	}
	return a
}

func refuseBody(w http.ResponseWriter, err error) {
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		writeError(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is over %d bytes", tooLarge.Limit))
		return
	}
	writeError(w, http.StatusBadRequest, "the body could not be read")
}
