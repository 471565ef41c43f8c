package main

import (
	"context"
	"errors"
	"time"

	"edgeproxy/internal/lab/metrics"
)

const (
	scrapeEvery   = 50 * time.Millisecond
	scrapeTimeout = 10 * time.Second
	// settleWait bounds the wait for the last requests to be counted: a proxy counts
	// a request after the client has its last byte.
	settleWait = 3 * time.Second
)

// scraper reads a proxy's counts since its start. It may return incomplete counts
// with a *missingError.
type scraper interface {
	scrape(ctx context.Context) (counts, error)
}

// scrape reads the metrics once.
func (e *edge) scrape(ctx context.Context) (counts, error) {
	ctx, cancel := context.WithTimeout(ctx, scrapeTimeout)
	defer cancel()
	x, err := metrics.Get(ctx, e.config.admin)
	if err != nil {
		return counts{}, err
	}
	return countsIn(x, &e.config)
}

// scrapeTolerant returns the counts, and ignores missing metrics.
func scrapeTolerant(ctx context.Context, s scraper) (counts, error) {
	c, err := s.scrape(ctx)
	if _, ok := errors.AsType[*missingError](err); ok {
		err = nil
	}
	return c, err
}

// settled returns the counts once they no longer change and include at least the
// given number of requests. After settleWait it returns them as they are.
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
		if err == nil && c.requests >= requests && c.unchangedSince(&last) {
			return c, nil
		}
		last = c
	}
	return last, err
}
