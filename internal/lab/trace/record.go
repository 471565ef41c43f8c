package trace

import "bytes"

// record is what a line says, by role: nil where it has no such field.
type record [roles][]byte

// recordReader turns the records of one file into requests.
type recordReader struct {
	sparse  bool   // a size of 0 is left out
	get, ok []byte // the method and the status of a record without one
	times   clock
	when    []byte // a time, made of a date and a time of day
	target  []byte // made of a path and a query
}

func newRecordReader() recordReader { return recordReader{get: []byte("GET"), ok: []byte("200")} }

// read turns f into r, whose bytes are valid until the next call.
func (p *recordReader) read(f *record, r *request) verdict {
	method, target, status := f[roleMethod], f[roleTarget], f[roleStatus]
	if line := f[roleRequest]; target == nil && line != nil {
		var ok bool
		if method, target, ok = splitRequest(line); !ok {
			return skipped // the client sent no valid request line
		}
	}
	if method == nil {
		method = p.get
	}
	if status == nil {
		status = p.ok
	}
	switch {
	case len(target) == 0 || len(method) == 0:
		return bad
	case noStatus(status):
		return skipped
	case !isStatus(status):
		return bad
	}
	var ok bool
	if r.size, ok = p.size(f[roleBytes], method, status); !ok {
		return bad
	}
	r.host = hostName(f[roleHost])
	r.setURL(p.withQuery(target, f[roleQuery]))
	r.at, r.timed = p.times.read(p.time(f))
	return r.judge(method, status)
}

// noStatus reports whether a log says in this way that there was no response.
func noStatus(s []byte) bool { return string(s) == "-" || string(s) == "0" || string(s) == "-1" }

// size reads the bytes of a response. A 304 and a response to HEAD need not have any.
func (p *recordReader) size(sent, method, status []byte) (int64, bool) {
	if len(sent) == 0 {
		return 0, p.sparse || string(status) == "304" || string(method) == "HEAD"
	}
	if whole, fraction, ok := bytes.Cut(sent, []byte(".")); ok && string(fraction) == "0" { // tables with empty cells write it so
		sent = whole
	}
	return parseSent(sent)
}

// withQuery returns the path with the query, if it is in a field of its own.
func (p *recordReader) withQuery(path, query []byte) []byte {
	query = bytes.TrimPrefix(query, []byte("?"))
	if len(query) == 0 || string(query) == "-" || bytes.IndexByte(path, '?') >= 0 {
		return path
	}
	p.target = append(append(append(p.target[:0], path...), '?'), query...)
	return p.target
}

// time returns the time of a record, in a format that clock reads.
func (p *recordReader) time(f *record) []byte {
	date, at := f[roleDate], f[roleTime]
	if len(date) == 0 || len(at) < 5 || at[2] != ':' { // not a time of day
		return at
	}
	p.when = append(append(p.when[:0], date...), 'T')
	p.when = append(p.when, at...)
	return p.when
}

// setURL sets the target. If it is a whole URL, that has the host.
func (r *request) setURL(target []byte) {
	r.target = target
	if target[0] == '/' {
		return
	}
	r.setWholeURL(target)
}

// setWholeURL sets host and target of an http or https URL, and reports whether it is one.
func (r *request) setWholeURL(url []byte) bool {
	host, target, ok := splitURL(url)
	if ok {
		r.host, r.target = host, target
	}
	return ok
}

// hostName returns the host as it is keyed, changed in place: in lower case, without a default port and a dot at the end. In a
// log "-" is none.
func hostName(s []byte) []byte {
	if string(s) == "-" {
		return nil
	}
	s = bytes.TrimSuffix(lower(s), []byte(":443"))
	s = bytes.TrimSuffix(s, []byte(":80"))
	return bytes.TrimSuffix(s, []byte("."))
}

// lower turns ASCII letters into lower case, in place: hosts are not case-sensitive.
func lower(s []byte) []byte {
	for i, c := range s {
		if 'A' <= c && c <= 'Z' {
			s[i] = c + 'a' - 'A'
		}
	}
	return s
}
