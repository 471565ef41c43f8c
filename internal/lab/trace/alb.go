package trace

import "bytes"

// The words of a line of Amazon's load balancers before the request, from its end.
const (
	albSent   = 1
	albStatus = 4 // status of the load balancer
	albTime   = 11
	albWords  = 12 // with the type of the request, which a Classic Load Balancer does not write
)

// newALB reads the access logs of Amazon's Application Load Balancers, and of Classic ones:
//
//	type time elb client target seconds seconds seconds status status received sent "METHOD URL PROTOCOL" ...
//
// The bytes are those of the whole response, with its header.
func newALB() parser {
	var times clock
	return func(line []byte, r *request) verdict {
		before, rest, ok := bytes.Cut(line, []byte(` "`))
		quoted, _, closed := cutQuoted(rest)
		words, n := albFields(before)
		if !ok || !closed || n < albTime {
			return bad
		}
		status := words[n-albStatus]
		if r.at, r.timed = times.read(words[n-albTime]); !r.timed || !isStatus(status) && !noStatus(status) {
			return bad
		}
		if r.size, ok = parseSize(words[n-albSent]); !ok {
			return bad
		}
		method, url, ok := splitRequest(quoted)
		if !ok || noStatus(status) {
			return skipped
		}
		v := r.judge(method, status)
		if v == used && !r.setWholeURL(url) {
			return skipped // a WebSocket
		}
		return v
	}
}

// albFields returns the words before the request and their number, 0 if there are too many.
func albFields(text []byte) (words [albWords][]byte, n int) {
	for ; n < albWords; n++ {
		if words[n], text = field(text); len(words[n]) == 0 {
			return words, n
		}
	}
	if len(bytes.TrimSpace(text)) > 0 {
		return words, 0
	}
	return words, n
}
