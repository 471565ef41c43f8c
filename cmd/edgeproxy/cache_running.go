package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"edgeproxy/internal/edge"
)

// runningTier is the disk tier of a running proxy, through its admin listener.
type runningTier struct {
	address, token string
	dirs           []string // from the flags or the file, for errors
}

func (t *runningTier) close() {}

func (t *runningTier) stats(ctx context.Context) (any, error) {
	var s json.RawMessage
	err := t.lines(ctx, http.MethodGet, "/cache/stats", func(line json.RawMessage) error {
		s = line
		return nil
	})
	return s, err
}

func (t *runningTier) objects(ctx context.Context, show func(edge.Object) error) error {
	return t.lines(ctx, http.MethodGet, "/cache/ls", func(line json.RawMessage) error {
		var o edge.Object
		if err := json.Unmarshal(line, &o); err != nil {
			return err
		}
		return show(o)
	})
}

func (t *runningTier) verify(ctx context.Context, show func(edge.Damage) error) (edge.Verified, error) {
	var all *edge.Verified
	err := t.lines(ctx, http.MethodPost, "/cache/verify", func(line json.RawMessage) error {
		var l edge.VerifyLine
		if err := json.Unmarshal(line, &l); err != nil {
			return err
		}
		if l.Damage != nil {
			return show(*l.Damage)
		}
		all = l.Verified
		return nil
	})
	switch {
	case err != nil:
		return edge.Verified{}, err
	case all == nil:
		return edge.Verified{}, errors.New("the answer is incomplete")
	}
	return *all, nil
}

func (t *runningTier) drop(ctx context.Context, urls []string) (string, error) {
	o := purgeOrder{by: "url", values: urls}
	if len(urls) == 0 {
		o.by = purgeAll
	}
	done, err := o.send(ctx, t.address, t.token)
	switch {
	case err != nil:
		return "", err
	case done.Objects != nil:
		return fmt.Sprintf("purged: url %q (objects: %d)", urls, *done.Objects), nil
	case len(urls) == 0:
		return "purged: everything", nil
	}
	return fmt.Sprintf("purged: url %q", urls), nil
}

// inUse returns the error of a request that got no answer: the directories, if any are named, are in use all the same.
func (t *runningTier) inUse(err error) error {
	if len(t.dirs) == 0 {
		return err
	}
	return fmt.Errorf("%s: in use by another process, which does not answer: %w", strings.Join(t.dirs, ", "), err)
}

// lines requests path, and calls show for each JSON value of the answer.
func (t *runningTier) lines(ctx context.Context, method, path string, show func(json.RawMessage) error) error {
	res, err := ask(ctx, t.address, method, path, t.token, nil)
	if err != nil {
		return t.inUse(err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
		if err != nil {
			return err
		}
		return errors.New(refusalOf(t.address, path, res.StatusCode, text).Error)
	}
	for d := json.NewDecoder(res.Body); ; {
		var line json.RawMessage
		switch err := d.Decode(&line); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("%s: %s: %w", t.address, notOurs, err)
		}
		if err := show(line); err != nil {
			return err
		}
	}
}
