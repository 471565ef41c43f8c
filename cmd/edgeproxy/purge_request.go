package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

const (
	// purgeTimeout bounds a purge, answer included. It takes microseconds where the
	// proxy is well.
	purgeTimeout = 30 * time.Second
	// maxPurgeAnswer bounds what is read of the answer, which repeats the request.
	maxPurgeAnswer = 2 << 20

	purgeAll = "all" // the key that has no values
)

// purgeOrder is a purge in the words of the admin listener.
type purgeOrder struct {
	by     string   // what the values are
	values []string // none for all
	soft   bool
}

// purgeDone is its answer: Objects is nil where nobody counted.
type purgeDone struct {
	Objects *int `json:"objects"`
}

func (o purgeOrder) body() ([]byte, error) {
	fields := map[string]any{o.by: o.values, "soft": o.soft}
	if o.by == purgeAll {
		fields[purgeAll] = true
	}
	return json.Marshal(fields)
}

// send asks the admin listener at address, with the token if there is one. What that does not understand is bad
// usage.
func (o purgeOrder) send(ctx context.Context, address, token string) (*purgeDone, error) {
	ctx, cancel := context.WithTimeout(ctx, purgeTimeout)
	defer cancel()
	body, err := o.body()
	if err != nil {
		return nil, fmt.Errorf("purge: %w", err)
	}
	transport := &http.Transport{} // no proxy of the environment stands before the admin listener
	host := address
	if path, ok := strings.CutPrefix(address, socketPrefix); ok {
		host = "localhost"
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", path)
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+host+"/purge", bytes.NewReader(body))
	if err != nil {
		return nil, &usageError{fmt.Errorf("purge: --admin %s: want HOST:PORT or unix:PATH", address)}
	}
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	defer transport.CloseIdleConnections()
	res, err := transport.RoundTrip(req)
	if err != nil {
		return nil, fmt.Errorf("purge: %s: %w", address, err)
	}
	defer func() { _ = res.Body.Close() }()
	return readPurgeAnswer(res, address)
}

func readPurgeAnswer(res *http.Response, address string) (*purgeDone, error) {
	text, err := io.ReadAll(io.LimitReader(res.Body, maxPurgeAnswer))
	if err != nil {
		return nil, fmt.Errorf("purge: %s: read the answer: %w", address, err)
	}
	if res.StatusCode != http.StatusOK {
		why := struct {
			Error string `json:"error"`
		}{Error: res.Status}
		_ = json.Unmarshal(text, &why) // without it, the status is all there is to say
		err := errors.New("purge: " + why.Error)
		if res.StatusCode == http.StatusBadRequest {
			return nil, &usageError{err}
		}
		return nil, err
	}
	var d purgeDone
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("purge: %s: not the answer of an admin listener: %w", address, err)
	}
	return &d, nil
}
