package proxy

import (
	"errors"
	"fmt"
	"strings"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/wire"
)

// ErrPurgeURL says that a URL to purge is not one that could have been stored.
var ErrPurgeURL = errors.New("want an absolute URL such as http://example.com/path?query")

// PurgeURL forgets all variants of a URL and keeps fetches that are under way
// from storing what they bring. It returns how many objects went. The URL
// passes the parser and the key rules of requests. Sightings stay: the next
// storable response is stored at once. Safe for concurrent use.
func (p *Proxy) PurgeURL(url string) (objects int, err error) {
	if !strings.Contains(url, "://") {
		return 0, fmt.Errorf("%.200q: %w", url, ErrPurgeURL)
	}
	target, err := wire.ParseTarget([]byte(url), scheme, false)
	if err != nil {
		return 0, fmt.Errorf("%.200q: %w: %w", url, err, ErrPurgeURL)
	}
	host, err := wire.AppendHost(nil, target.Authority, scheme)
	if err != nil {
		return 0, fmt.Errorf("%.200q: %w: %w", url, err, ErrPurgeURL)
	}
	name := wire.AppendKey(nil, scheme, host, target.Raw)
	return p.forget(p.Hasher.Sum(name), name), nil
}

// forget takes the flights first: one that stores after that sees the mark, and
// one that stored before is removed with the rest.
func (p *Proxy) forget(url cache.Key, name []byte) int {
	p.flights.Purge(url)
	return p.Store.Purge(url, name)
}
