package trace

import "bytes"

// newHAProxy reads the logs that HAProxy writes with option httplog or httpslog:
//
//	client:port [time] frontend backend/server timers status bytes cookie cookie end connections queues
//	    {captured} {captured} "METHOD TARGET PROTOCOL" errors sni/version/cipher
//
// The host is that of the target, as HTTP/2 has it, else that among the captured request fields, else the SNI. The times are local
// ones, and count as UTC. The bytes are those of the whole response, with its header.
func newHAProxy() parser {
	var times clock
	return func(line []byte, r *request) verdict {
		before, rest, ok := bytes.Cut(line, []byte("] "))
		opening := bytes.LastIndexByte(before, '[')
		if !ok || opening < 0 {
			return bad
		}
		status, sent, rest := haproxyResponse(rest)
		if r.size, ok = parseSize(sent); !ok {
			return bad
		}
		captured, rest, ok := bytes.Cut(rest, []byte(` "`))
		quoted, rest, closed := cutQuoted(rest)
		if !ok || !closed {
			return bad
		}
		method, target, ok := splitRequest(quoted)
		if !ok || noStatus(status) {
			return skipped // <BADREQ>, or a client that left
		}
		if r.host = capturedHost(captured); r.host == nil {
			r.host = sniHost(rest)
		}
		r.setURL(target)
		r.at, r.timed = times.read(before[opening+1:])
		return r.judge(method, status)
	}
}

// haproxyResponse returns the status and the bytes in the text behind the time, and what follows them; nil if it is none of
// HAProxy's.
func haproxyResponse(text []byte) (status, sent, rest []byte) {
	_, rest = field(text) // frontend
	server, rest := field(rest)
	timers, rest := field(rest)
	status, rest = field(rest)
	sent, rest = field(rest)
	if bytes.IndexByte(server, '/') < 0 || bytes.Count(timers, []byte("/")) != 4 || !isStatus(status) && !noStatus(status) {
		return nil, nil, nil
	}
	return status, bytes.TrimPrefix(sent, []byte("+")), rest // with option logasap there is more to come
}

// capturedHost returns the first of the captured request fields that is a domain, nil if none is.
func capturedHost(text []byte) []byte {
	_, text, ok := bytes.Cut(text, []byte(" {"))
	if !ok {
		return nil
	}
	fields, _, _ := bytes.Cut(text, []byte("}"))
	for f := range bytes.SplitSeq(fields, []byte("|")) {
		if isHost(f) && !isAddress(f) && bytes.IndexByte(f, '.') > 0 {
			return hostName(f)
		}
	}
	return nil
}

// sniHost returns the name in ` errors sni/version/cipher`, nil if there is none.
func sniHost(text []byte) []byte {
	_, text = field(text)
	tls, _ := field(text)
	name, _, ok := bytes.Cut(tls, []byte("/"))
	if !ok || !isHost(name) {
		return nil
	}
	return hostName(name)
}
