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
	// settleWait bounds the wait for the last requests to be counted: a proxy does
	// that after the client has its last byte.
	settleWait = 3 * time.Second
)

// scraper reads what a proxy has counted since its start. It may return a
// *missingError with counts that lack something.
type scraper interface {
	scrape(ctx context.Context) (counts, error)
}

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
	return x.counts(&e.config)
}

// early returns the counts while a metric may still be missing.
func early(ctx context.Context, s scraper) (counts, error) {
	c, err := s.scrape(ctx)
	if _, ok := errors.AsType[*missingError](err); ok {
		err = nil
	}
	return c, err
}

// settled returns the counts once they stand still and hold at least the given
// number of requests, or after settleWait whatever they are.
func settled(ctx context.Context, s scraper, requests int64) (counts, error) {
	deadline := time.NewTimer(settleWait)
	defer deadline.Stop()
	tick := time.NewTicker(scrapeEvery)
	defer tick.Stop()
	last, err := s.scrape(ctx)
	for err == nil {
		select {
		case <-tick.C:
		case <-deadline.C:
			return last, nil
		case <-ctx.Done():
			return last, context.Cause(ctx)
		}
		var c counts
		c, err = s.scrape(ctx)
		if err == nil && c.requests >= requests && c.stands(&last) {
			return c, nil
		}
		last = c
	}
	return last, err
}
