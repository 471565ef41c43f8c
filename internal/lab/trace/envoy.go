package trace

import "bytes"

// newEnvoy reads the default access logs of Envoy and of Istio:
//
//	[time] "METHOD TARGET PROTOCOL" status flags ... received sent duration service "forwarded" "agent" "id" "authority" ...
//
// Istio has up to three more words between the flags and the numbers.
func newEnvoy() parser {
	var times clock
	return func(line []byte, r *request) verdict {
		rest, ok := bytes.CutPrefix(line, []byte("["))
		at, rest, found := bytes.Cut(rest, []byte(`] "`))
		if !ok || !found {
			return bad
		}
		quoted, rest, ok := cutQuoted(rest)
		status, rest := field(rest)
		if _, isCount := parseCount(status); !ok || !isCount {
			return bad
		}
		sent, rest, ok := envoySent(rest)
		if !ok {
			return bad
		}
		if r.size, ok = parseSize(sent); !ok {
			return bad
		}
		method, target, ok := splitRequest(quoted)
		if !ok || string(method) == "-" || noStatus(status) {
			return skipped // a connection without a request, or a request without a response
		}
		r.host = hostName(envoyAuthority(rest))
		r.setURL(target)
		r.at, r.timed = times.read(at)
		return r.judge(method, status)
	}
}

// isEnvoys reports whether the text behind the status is Envoy's. Flags that are none look like bytes that are none.
func isEnvoys(text []byte) bool {
	_, _, ok := envoySent(text)
	return ok
}

// envoySent returns the second of the three numbers in the text behind the status, and what is behind the third and the time of
// the service.
func envoySent(text []byte) (sent, rest []byte, ok bool) {
	const between = 5 // words before the numbers, at most
	_, text = envoyWord(text)
	for range between {
		word, after := envoyWord(text)
		if !allDigits(word) {
			text = after
			continue
		}
		sent, after = envoyWord(after)
		duration, after := envoyWord(after)
		service, after := envoyWord(after)
		return sent, after, allDigits(sent) && allDigits(duration) && (allDigits(service) || string(service) == "-")
	}
	return nil, nil, false
}

// envoyAuthority returns the fourth quoted text behind the numbers.
func envoyAuthority(text []byte) []byte {
	var word []byte
	for range 4 {
		word, text = envoyWord(text)
	}
	if len(word) < 2 || word[0] != '"' {
		return nil
	}
	return word[1 : len(word)-1]
}

// envoyWord returns the next word, or a quoted text with its quotes, and the rest.
func envoyWord(text []byte) (word, rest []byte) {
	text = bytes.TrimLeft(text, " ")
	if len(text) > 0 && text[0] == '"' {
		if inner, rest, ok := cutQuoted(text[1:]); ok {
			return text[:len(inner)+2], rest
		}
	}
	return field(text)
}
