package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// warmRequests is how often each page is asked for before it must be a hit: a
// first sighting, a second that stores, and one more.
const warmRequests = 3

// warm asks for every page until edgeproxy has it, and looks at the bodies: what
// is measured has to be the right answer.
func warm(ctx context.Context, address string, pages []page, mark string) error {
	transport := &http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	client := http.Client{Transport: transport, Timeout: answerWait}
	for _, p := range pages {
		for i := range warmRequests {
			status, body, err := fetch(ctx, &client, "http://"+address+p.path)
			if err != nil {
				return fmt.Errorf("fill the cache: %w", err)
			}
			if !bytes.Equal(body, p.body) {
				return &AnswerError{Why: "has another body than its page", Head: p.path}
			}
			if i == warmRequests-1 && !strings.Contains(status, mark) {
				return &AnswerError{Why: "is no hit after " + strconv.Itoa(warmRequests) + " requests", Head: status}
			}
		}
	}
	return nil
}

// fetch returns Cache-Status and body of a page.
func fetch(ctx context.Context, client *http.Client, url string) (status string, body []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return "", nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return "", nil, err
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(resp.Body)
	return resp.Header.Get("Cache-Status"), body, err
}
