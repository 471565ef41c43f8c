package edgetest

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The language of testdata/*.txt. A line without indent is a step; indented lines
// belong to the step above; # begins a comment line.
//
//	config                      the operator's YAML in the lines below, before the first step of another kind; {origin} is the origin's
//	                            address, {dir} a folder with the files. What it does not say is the shipped default
//	file NAME [TEXT]            a file in {dir} with this line, or with the lines below
//	small KEY SIZE              a size that is smaller than a file may say, so that a scenario is short: see small_test.go
//	origin TARGET [STATUS]      what the origin answers from now on; see answer_test.go
//	shield                      the YAML of a second edge, called shield, which is then between the edge and the origin
//	client METHOD TARGET [-> E] a request on a connection of its own, read to its end
//	together N METHOD TARGET    N such requests at the same moment
//	start NAME METHOD TARGET    a request that is left waiting
//	finish NAME [-> E]          wait for it; what is expected of it
//	leave NAME                  its client closes the connection
//	raw TEXT [-> E]             a request of these bytes; Go's escapes hold
//	advance DURATION            virtual time passes
//	purge [soft] [BY] VALUE...  by url, if not said, prefix, host or tag; or: purge [soft] all; {1..N} in VALUE is N of them
//	    -> N                    how many objects went; uncounted if the number is not known
//	purge-shield ...            the same at the shield
//	reload                      the YAML in the lines below holds from now on, or the files that it names have changed
//	shield-down                 the shield refuses connections from now on
//	origin-down                 the origin refuses connections from now on
//	expect FACT                 see facts_test.go
//
// Indented under a request: "Name: value" is a field, "body TEXT" its content, and
// "-> E" an expectation:
//
//	-> STATUS [REST]            REST is all of Cache-Status behind the name
//	-> N times STATUS [REST]    for together; all N must be spoken for
//	-> Name: value              the field, several lines joined by ", "
//	-> no Name                  there is no such field
//	-> body TEXT                Go's escapes hold
//	-> content TEXT             the body without its Content-Encoding, if it has one; Go's escapes hold
//	-> size N                   of the body
//	-> broken                   the body ends before its framing says so
//	-> interim N Name: value    of the last interim response with that status; or no Name
//	-> interim none             there was none
//	-> trailer Name: value      behind the body; or no Name
//	-> trailer none             there was none
//	-> after DURATION           virtual time from the request to the end of the answer
//
// {instance} is the id of the edge in CDN-Loop, as the origin got it last, and {shield} that of the shield. In values {now}, {now+1h} and {now-1h} are an HTTP date.

// step is one line without indent and those that belong to it.
type step struct {
	line  int
	verb  string
	rest  string
	lines []string // indented, trimmed, with neither comments nor empty ones
	yaml  string   // the same, with what they are indented by beyond two spaces
}

// words returns the words behind the verb, of which there must be at least n.
func (s *step) words(n int) ([]string, error) {
	w := strings.Fields(s.rest)
	if len(w) < n {
		return nil, fmt.Errorf("%s: want at least %d words, got %q", s.verb, n, s.rest)
	}
	return w, nil
}

// parse reads a scenario.
func parse(text string) ([]step, error) {
	var steps []step
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "" || trimmed[0] == '#':
		case line[0] != ' ':
			verb, rest, _ := strings.Cut(trimmed, " ")
			s := step{line: i + 1, verb: verb, rest: strings.TrimSpace(rest)}
			if at := strings.Index(s.rest, "->"); at >= 0 { // an expectation on the same line
				s.lines = append(s.lines, s.rest[at:])
				s.rest = strings.TrimSpace(s.rest[:at])
			}
			steps = append(steps, s)
		case len(steps) == 0:
			return nil, fmt.Errorf("line %d: indented, but under no step", i+1)
		default:
			last := &steps[len(steps)-1]
			last.lines = append(last.lines, trimmed)
			last.yaml += strings.TrimPrefix(line, "  ") + "\n"
		}
	}
	return steps, nil
}

// unescape reads Go's escapes.
func unescape(s string) (string, error) {
	out, err := strconv.Unquote(`"` + strings.ReplaceAll(s, `"`, `\"`) + `"`)
	if err != nil {
		return "", fmt.Errorf("%q: %w", s, err)
	}
	return out, nil
}

// expandDates replaces {now}, {now+D} and {now-D} by HTTP dates.
func expandDates(s string) (string, error) {
	for {
		begin := strings.Index(s, "{now")
		if begin < 0 {
			return s, nil
		}
		length := strings.IndexByte(s[begin:], '}')
		if length < 0 {
			return "", fmt.Errorf("%q: no closing brace", s)
		}
		at := time.Now().UTC()
		if offset := s[begin+len("{now") : begin+length]; offset != "" {
			d, err := time.ParseDuration(offset)
			if err != nil {
				return "", fmt.Errorf("%q: %w", s, err)
			}
			at = at.Add(d)
		}
		s = s[:begin] + at.Format("Mon, 02 Jan 2006 15:04:05 GMT") + s[begin+length+1:]
	}
}
