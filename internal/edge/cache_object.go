package edge

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/http/wire"
	"edgeproxy/internal/route/cachekey"
)

// Object is a stored response as the commands and the admin listener show it.
type Object struct {
	URL        string    `json:"url"`
	Part       string    `json:"part,omitempty"`    // the slice, of a large object
	Variant    string    `json:"variant,omitempty"` // the request fields that select it
	Status     int32     `json:"status"`
	Bytes      int64     `json:"bytes"` // the length of the body
	Age        float64   `json:"age_seconds"`
	FreshUntil time.Time `json:"fresh_until"` // in the past: it is stale
	Tags       int       `json:"tags"`
	Hits       int       `json:"recent_hits,omitempty"` // since eviction last passed it, 3 at most; only of a running store
}

// ObjectOf describes the response in a record of the disk tier, by the head of the record; false if it holds none.
// bodyBytes is the length of its body.
func ObjectOf(block []byte, bodyBytes int64, now time.Time) (o Object, ok bool) {
	e, err := cache.RecordEntry(block)
	if err != nil || e.Status == 0 { // status 0 is a Vary marker: it names the fields that select a variant
		return o, false
	}
	o = Object{
		Status: e.Status, Bytes: bodyBytes, Tags: len(e.Tags),
		Age:        max(e.InitialAge+now.Sub(e.ResponseTime), 0).Seconds(),
		FreshUntil: e.ResponseTime.Add(e.Policy.Lifetime - e.InitialAge).UTC().Truncate(time.Second),
	}
	url := e.Name
	if len(e.Vary) > 0 {
		url = e.Name[:e.URLLen]
		o.Variant = variantText(e.Name[e.URLLen:])
	}
	o.URL, o.Part = urlOf(url)
	return o, true
}

// urlOf returns the URL of a cache key, and which part of the object it is; "" for the whole.
func urlOf(key []byte) (url, part string) {
	scheme, host, target, ok := wire.KeyURL(key)
	if !ok {
		return strconv.Quote(string(key)), ""
	}
	url = string(scheme) + "://" + string(host) + string(target)
	if plain := wire.AppendKey(nil, string(scheme), host, target); len(plain) <= len(key) && string(key[:len(plain)]) == string(plain) {
		if size, number, ok := cachekey.Part(key[len(plain):]); ok && number >= 0 {
			part = fmt.Sprintf("slice %d of %d bytes", number, size)
		} else if ok {
			part = "one part"
		}
	}
	return url, part
}

func variantText(b []byte) string {
	fields, ok := rfc9111.ParseVariant(b)
	if !ok {
		return strconv.Quote(string(b))
	}
	parts := make([]string, len(fields))
	for i, f := range fields {
		parts[i] = f.Name + ": " + cmp.Or(strings.Join(f.Lines, ", "), "-")
	}
	return strings.Join(parts, "; ")
}
