package trace

import "bytes"

// newSquid reads Squid's native log:
//
//	time elapsed client code/status bytes method URL user hierarchy/peer type
//
// The bytes are those of the whole response, with its header. Squid logs URLs without
// queries unless strip_query_terms is off.
func newSquid() parser {
	var times clock
	return func(line []byte, r *request) verdict {
		at, rest := field(line)
		elapsed, rest := field(rest)
		client, rest := field(rest)
		result, rest := field(rest)
		sent, rest := field(rest)
		method, rest := field(rest)
		url, rest := field(rest)
		code, status, ok := bytes.Cut(result, []byte("/"))
		if !ok || !allDigits(bytes.TrimPrefix(elapsed, []byte("-"))) || len(client) == 0 || len(code) == 0 || !isStatus(status) || len(rest) == 0 {
			return bad
		}
		if r.size, ok = parseSize(sent); !ok {
			return bad
		}
		if r.at, r.timed = times.read(at); !r.timed {
			return bad
		}
		if v := r.judge(method, status); v != used {
			return v
		}
		if r.host, r.target, ok = splitURL(url); !ok {
			*r = request{}
			return skipped // another scheme, such as ftp: or the cache manager's
		}
		return used
	}
}

// splitURL splits an http or https URL. The host is in lower case, changed in place, and
// without the default port.
func splitURL(url []byte) (host, target []byte, ok bool) {
	scheme, rest, ok := bytes.Cut(url, []byte("://"))
	port := ":80"
	switch {
	case !ok:
		return nil, nil, false
	case bytes.EqualFold(scheme, []byte("https")):
		port = ":443"
	case !bytes.EqualFold(scheme, []byte("http")):
		return nil, nil, false
	}
	end := bytes.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	host, target = bytes.TrimSuffix(lower(rest[:end]), []byte(port)), rest[end:]
	switch {
	case len(host) == 0:
		return nil, nil, false
	case len(target) == 0:
		target = []byte("/")
	case target[0] == '?':
		target = append([]byte("/"), target...)
	}
	return host, target, true
}
