package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

const (
	// purgeTimeout bounds a purge, including the answer. A healthy proxy takes
	// microseconds.
	purgeTimeout = 30 * time.Second

	purgeAll = "all" // the selector without values
)

// purgeOrder is the body of POST /purge.
type purgeOrder struct {
	by     string   // the selector: url, prefix, host, tag or all
	values []string // nil for all
	soft   bool
}

// purgeDone is the answer. Objects is nil if the purge did not count objects.
type purgeDone struct {
	Purged  json.RawMessage `json:"purged"`
	Objects *int            `json:"objects"`
}

func (o purgeOrder) body() ([]byte, error) {
	fields := map[string]any{o.by: o.values, "soft": o.soft}
	if o.by == purgeAll {
		fields[purgeAll] = true
	}
	return json.Marshal(fields)
}

// send sends the purge to the admin listener at address, with the token if there is one. A 400 answer is a
// usageError.
func (o purgeOrder) send(ctx context.Context, address, token string) (*purgeDone, error) {
	body, err := o.body()
	if err != nil {
		return nil, fmt.Errorf("purge: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, purgeTimeout)
	defer cancel()
	status, text, err := post(ctx, address, "/purge", token, body)
	if err != nil {
		return nil, fmt.Errorf("purge: %w", err)
	}
	return readPurgeAnswer(status, text, address)
}

func readPurgeAnswer(status int, text []byte, address string) (*purgeDone, error) {
	if status != http.StatusOK {
		err := errors.New("purge: " + refusalOf(address, "/purge", status, text).Error)
		if status == http.StatusBadRequest {
			return nil, &usageError{err}
		}
		return nil, err
	}
	var d purgeDone
	if err := json.Unmarshal(text, &d); err != nil || d.Purged == nil {
		return nil, fmt.Errorf("purge: %s: %s", address, notOurs)
	}
	return &d, nil
}
