package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

const (
	scrapeEvery   = 50 * time.Millisecond
	scrapeTimeout = 10 * time.Second
	// settleWait bounds the wait for the last requests to be counted: edgeproxy
	// does that after the client has its last byte.
	settleWait = 3 * time.Second
)

// scrape reads the metrics once.
func (e *edge) scrape(ctx context.Context) (counts, error) {
	ctx, cancel := context.WithTimeout(ctx, scrapeTimeout)
	defer cancel()
	resp, err := e.get(ctx, "/metrics")
	if err != nil {
		return counts{}, fmt.Errorf("scrape: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return counts{}, fmt.Errorf("scrape /metrics: status %s", resp.Status)
	}
	x, err := parseExposition(resp.Body)
	if err != nil {
		return counts{}, fmt.Errorf("scrape /metrics: %w", err)
	}
	return x.counts(e.config.policy)
}

// before returns the counts at the start, where a metric may still be missing.
func (e *edge) before(ctx context.Context) (counts, error) {
	c, err := e.scrape(ctx)
	if _, ok := errors.AsType[*missingError](err); ok {
		err = nil
	}
	return c, err
}

// settled returns the counts once they stand still and hold at least the given
// number of requests, or after settleWait whatever they are.
func (e *edge) settled(ctx context.Context, requests int64) (counts, error) {
	deadline := time.NewTimer(settleWait)
	defer deadline.Stop()
	tick := time.NewTicker(scrapeEvery)
	defer tick.Stop()
	last, err := e.scrape(ctx)
	for err == nil {
		select {
		case <-tick.C:
		case <-deadline.C:
			return last, nil
		case <-ctx.Done():
			return last, context.Cause(ctx)
		}
		var c counts
		c, err = e.scrape(ctx)
		if err == nil && c.requests >= requests && c.stands(&last) {
			return c, nil
		}
		last = c
	}
	return last, err
}

// stands reports whether nothing was counted since last.
func (c *counts) stands(last *counts) bool {
	return c.requests == last.requests && c.responseBytes == last.responseBytes && c.writes == last.writes &&
		c.originRequests == last.originRequests && c.originBytes == last.originBytes
}
