package proxy

import (
	"strconv"
	"strings"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/reason"
)

const headerCacheStatus = "Cache-Status" // canonical

// structuredName is a name as a structured field item: a token where it is one,
// else a quoted string (RFC 9651 sections 3.3.3 and 3.3.4).
func structuredName(name string) string {
	if field.ValidName(name) && (name[0] == '*' || 'a' <= name[0]|0x20 && name[0]|0x20 <= 'z') {
		return name
	}
	return strconv.Quote(name)
}

// withOneCacheStatus returns fields with what the caches between us and the origin say in
// Cache-Status, if anything, as one line behind all others. It is forwarded, and kept with
// what is stored: a hit tells how its response came here (RFC 9211 section 2).
func withOneCacheStatus(fields field.List) field.List {
	if !fields.Has(headerCacheStatus) {
		return fields
	}
	var said []string
	for _, line := range fields.Values(headerCacheStatus) {
		if line != "" {
			said = append(said, line)
		}
	}
	fields = fields.Without(func(name string) bool { return name == headerCacheStatus })
	if len(said) > 0 {
		fields.Add(headerCacheStatus, strings.Join(said, ", "))
	}
	return fields
}

// splitCacheStatus takes what other caches say from gathered fields.
func splitCacheStatus(fields field.List) (rest field.List, others string) {
	last := len(fields) - 1
	if last < 0 || fields[last].Name != headerCacheStatus {
		return fields, ""
	}
	return fields[:last], fields[last].Value
}

// split is splitCacheStatus for what a client gets, which has fields or lines.
func (g *clientHead) split() (fields field.List, lines field.Lines, others string) {
	if g.held == nil {
		fields, others = splitCacheStatus(g.fields)
		return fields, "", others
	}
	if before, last := g.lines.Last(); last.Name == headerCacheStatus {
		return nil, before, last.Value
	}
	return nil, g.lines, ""
}

// appendCacheStatus appends the Cache-Status line of the answer (RFC 9211): what other
// caches have said, the one closest to the origin first, and then our own. ttl is the remaining freshness of what is stored
// in seconds, below zero where it is stale.
func (p *Proxy) appendCacheStatus(b []byte, x *exchange, others string, ttl int64) []byte {
	if !x.settings.CacheStatus {
		return b
	}
	b = append(b, headerCacheStatus+": "...)
	return append(p.appendStatus(b, x, others, ttl), '\r', '\n')
}

// appendStatus appends the value. A client that is told in brief hears of us alone.
func (p *Proxy) appendStatus(b []byte, x *exchange, others string, ttl int64) []byte {
	brief := x.settings.CacheStatusBrief && !x.settings.statusTrusted.Holds(x.ClientAddress())
	if others != "" && !brief {
		b = append(b, others...)
		b = append(b, ", "...)
	}
	b = append(b, p.statusName...)
	switch {
	case x.fromStore() && x.result != resultRevalidated:
		b = append(b, "; hit"...)
		if brief {
			return b
		}
		b = append(b, "; ttl="...)
		b = strconv.AppendInt(b, ttl, 10)
	case x.fwd != fwdNone:
		b = append(b, "; fwd="...)
		b = append(b, x.fwd.String()...)
	}
	if brief {
		return b
	}
	b = x.appendForwardStatus(b)
	if x.stored {
		b = append(b, "; stored"...)
	}
	if x.collapsed {
		b = append(b, "; collapsed"...)
	}
	if x.reason != reason.None {
		b = append(b, "; detail="...)
		b = x.appendDetail(b)
	}
	return b
}

// appendForwardStatus says what the origin answered where we answer something
// else.
func (x *exchange) appendForwardStatus(b []byte) []byte {
	status := x.fwdStatus
	if x.onResult && x.selective() {
		if h := x.fetched(); h != nil && h.status != x.sent {
			status = h.status
		}
	}
	if status == 0 {
		return b
	}
	b = append(b, "; fwd-status="...)
	return strconv.AppendInt(b, int64(status), 10)
}

// appendDetail appends the word for the reason. The counting policy says how far the key has come, and request-cookie which
// cookies it is about.
func (x *exchange) appendDetail(b []byte) []byte {
	switch x.reason {
	case reason.TooFewSightings:
		b = append(b, "sighting-"...)
		b = strconv.AppendInt(b, int64(x.verdict.Sightings), 10)
		b = append(b, "-of-"...)
		return strconv.AppendInt(b, int64(x.verdict.Needed), 10)
	case reason.RequestCookie:
		return x.appendCookieDetail(b)
	default:
		return append(b, x.reason.String()...)
	}
}
