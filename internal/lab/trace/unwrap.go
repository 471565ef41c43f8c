package trace

import (
	"bytes"
	"encoding/json"
)

// unwrapper returns what a program has logged, from a line that what runs the program has put something around. ok is false if
// the line is no such line.
type unwrapper func(line []byte) (inner []byte, ok bool)

// unwrappers returns one for each that puts something around lines.
func unwrappers() []unwrapper {
	return []unwrapper{cutComposeName, cutPodName, cutContainerTime, unwrapDockerObject, cutSyslogHead, cutBeforeObject}
}

// unwrapAll returns the lines without what is around them, nil if that is around too few.
func unwrapAll(lines [][]byte, unwrap unwrapper) [][]byte {
	out, wrapped := make([][]byte, len(lines)), 0
	for i, line := range lines {
		out[i] = line
		if inner, ok := unwrap(line); ok {
			out[i] = inner
			wrapped++
		}
	}
	if !fitsEnough(wrapped, len(lines)) {
		return nil
	}
	return out
}

// unwrapped returns a parser of lines that may be wrapped.
func unwrapped(parse parser, unwrap unwrapper) parser {
	return func(line []byte, r *request) verdict {
		inner, ok := unwrap(line)
		switch {
		case !ok:
			return parse(line, r)
		case len(inner) == 0:
			return metadata
		}
		return parse(inner, r)
	}
}

// cutComposeName cuts `caddy-1  | `, which docker compose puts before a line.
func cutComposeName(line []byte) ([]byte, bool) {
	name, rest, ok := bytes.Cut(line, []byte("| "))
	if !ok || len(name) == 0 || name[len(name)-1] != ' ' {
		return nil, false
	}
	name = bytes.TrimRight(name, " ")
	return rest, len(name) > 0 && !bytes.ContainsAny(name, " \t\"[{")
}

// cutPodName cuts `[pod/NAME/CONTAINER] `, which kubectl logs --prefix puts before a line.
func cutPodName(line []byte) ([]byte, bool) {
	if !bytes.HasPrefix(line, []byte("[pod/")) {
		return nil, false
	}
	_, rest, ok := bytes.Cut(line, []byte("] "))
	return rest, ok
}

// cutContainerTime cuts `TIME stdout F `, which Kubernetes puts before a line in its files.
func cutContainerTime(line []byte) ([]byte, bool) {
	at, rest := field(line)
	stream, rest := field(rest)
	flag, rest := field(rest)
	if _, ok := parseTime(at); !ok || string(stream) != "stdout" && string(stream) != "stderr" || string(flag) != "F" && string(flag) != "P" {
		return nil, false
	}
	return bytes.TrimPrefix(rest, []byte(" ")), true
}

// unwrapDockerObject returns the line in `{"log":"LINE\n","stream":"stdout","time":"TIME"}`, which Docker writes into its files.
func unwrapDockerObject(line []byte) ([]byte, bool) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"log":"`))
	if !ok || !json.Valid(line) {
		return nil, false
	}
	value, rest := cutJSONValue(line[len(line)-len(rest)-1:])
	return trimEnd(plainText(value)), bytes.Contains(rest, []byte(`"stream":"`))
}

// cutSyslogHead cuts `<134>Jun  1 10:00:00 HOST PROGRAM[1]: ` of syslog and the journal, and the same with a time by RFC 3339.
func cutSyslogHead(line []byte) ([]byte, bool) {
	rest, ok := cutSyslogTime(cutPriority(line))
	host, rest := field(rest)
	program, rest := field(rest)
	return bytes.TrimPrefix(rest, []byte(" ")), ok && len(host) > 0 && bytes.HasSuffix(program, []byte(":"))
}

// cutPriority cuts `<134>`, if it is there.
func cutPriority(line []byte) []byte {
	priority, rest, ok := bytes.Cut(line, []byte(">"))
	if !ok || len(priority) == 0 || priority[0] != '<' || !allDigits(priority[1:]) {
		return line
	}
	return rest
}

// cutSyslogTime cuts a time by RFC 3164 or RFC 3339.
func cutSyslogTime(line []byte) (rest []byte, ok bool) {
	at, rest := field(line)
	if len(at) != len("Jun") || monthOf(at) == 0 {
		_, ok = parseTime(at)
		return rest, ok
	}
	day, rest := field(rest)
	clock, rest := field(rest)
	return rest, allDigits(day) && len(clock) >= len("10:00:00") && clock[2] == ':' && clock[5] == ':'
}

// cutBeforeObject cuts any text before a JSON object.
func cutBeforeObject(line []byte) ([]byte, bool) {
	i := bytes.Index(line, []byte(`{"`))
	if i < 1 {
		return nil, false
	}
	return line[i:], true
}
