package hostile

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// The language of testdata/*.txt. A line without indent begins a case; the indented
// lines below belong to it; lines that begin with # outside of a case are comments.
//
//	case NAME
//	  # what it is about, and by which section; every case has this line first
//	  hasty                  before an edge whose limits of time are short, to see them pass
//	  patient                before one whose limits are longer, to see something slow keep them
//	  last                   nothing can follow on the client's connection: not played in line
//	  for V = A B C          the case once for each value, which {V} stands for
//	  cuts head|body|tail    once for each place in the head or body of what say-cut or send-cut have;
//	                         tail is behind the last chunk, which body then leaves out
//
// What the client does, in turn:
//
//	  send TEXT              writes these bytes at once
//	  send-drip N D TEXT     in pieces of N bytes, one in each D
//	  send-cut TEXT          up to the cut, and ends its side
//	  send-end               ends its side of the connection
//	  leave                  closes it
//	  stall                  goes on, but reads nothing any more until the origin is through
//	  await TEXT             until TEXT has come
//	  await-origin N         until the heads of N requests of this case are at the origin
//	  await-played N         until the origin is through with N of them
//
// What the origin does about the first request of the case, and behind then about the
// next ones, in turn; without any, and for targets that do not begin with /a, it
// answers with the target:
//
//	  early                  first: begin with the head of the request, before its body
//	  say TEXT               writes these bytes at once; and say-drip N D TEXT, say-cut TEXT
//	  say-end                closes the connection; say-reset: by a reset
//	  say-nothing            until the edge closes
//	  await-client TEXT      until the client has got TEXT
//	  then                   the next request
//
// What must come of it:
//
//	  -> refused STATUS      one answer; the end; the origin gets nothing; nothing is stored
//	  -> STATUS [TEXT]       an answer, in turn, and its body
//	  -> head STATUS         an answer to a HEAD
//	  -> flood STATUS [TEXT] an answer, behind whatever number of interim ones
//	  -> broken STATUS TEXT  one whose body ends too early, after a part of TEXT
//	  -> has TEXT, -> lacks TEXT   somewhere in what the client got
//	  -> open                the connection serves the next request
//	  -> kept                open, but where the connection was handed over before: there closed
//	  -> closed              it ends behind the last answer, which says so; dropped: it need not say so
//	  -> left                the client left
//	  -> origin none         no request of the case reaches the origin
//	  -> origin [part] METHOD TARGET | Name: value | … | body TEXT | trailer Name: value | …
//	                         one that does, whole or in part, in turn; … at the end is more body
//	  -> stored none         nothing is stored
//	  -> stored TARGET TEXT  this is
//	  -> stale N             so many responses are, and are stale
//
// In texts Go's escapes hold, and {N*TEXT} is TEXT so many times.

// step is one thing that client or origin do.
type step struct {
	verb   string
	text   string
	number int
	period string
}

// parse reads the cases of a file.
func parse(text string) ([]*hostileCase, error) {
	var cases []*hostileCase
	var lines []string
	var at int
	finish := func() error {
		if lines == nil {
			return nil
		}
		c, err := newCase(lines)
		if err != nil {
			return fmt.Errorf("line %d: %w", at, err)
		}
		cases, lines = append(cases, c...), nil
		return nil
	}
	for i, line := range strings.Split(text, "\n") {
		switch {
		case strings.TrimSpace(line) == "" || line[0] == '#':
		case line[0] != ' ':
			if err := finish(); err != nil {
				return nil, err
			}
			lines, at = []string{line}, i+1
		case lines == nil:
			return nil, fmt.Errorf("line %d: indented, but under no case", i+1)
		default:
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return cases, finish()
}

var cites = regexp.MustCompile(`RFC \d+ (section|appendix) [\dA-Z]`)

// newCase reads the lines of one case, and makes as many of them as it stands for.
func newCase(lines []string) ([]*hostileCase, error) {
	name, ok := strings.CutPrefix(lines[0], "case ")
	if !ok || name == "" || strings.Contains(name, " ") {
		return nil, fmt.Errorf("%q: want case NAME", lines[0])
	}
	if len(lines) < 2 || lines[1][0] != '#' || !cites.MatchString(lines[1]) {
		return nil, fmt.Errorf("case %s: want a line of comment first, with the section of an RFC", name)
	}
	plain := lines[2:]
	if len(plain) > 0 && strings.HasPrefix(plain[0], "for ") {
		return overValues(name, plain[0], plain[1:])
	}
	if len(plain) > 0 && strings.HasPrefix(plain[0], "cuts ") {
		return overCuts(name, plain[0], plain[1:])
	}
	c, err := build(name, name, plain, noCut)
	return []*hostileCase{c}, err
}

func overValues(name, line string, lines []string) ([]*hostileCase, error) {
	v, values, ok := strings.Cut(strings.TrimPrefix(line, "for "), " = ")
	if !ok {
		return nil, fmt.Errorf("%q: want for V = A B C", line)
	}
	var out []*hostileCase
	for n, value := range strings.Fields(values) {
		replaced := make([]string, len(lines))
		for i := range lines {
			replaced[i] = strings.ReplaceAll(lines[i], "{"+v+"}", value)
		}
		c, err := build(name, fmt.Sprintf("%s@%d", name, n+1), replaced, noCut)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// overCuts makes a case for each cut within the head, 1 to all but its last byte, or
// from the whole head to all but the last byte of the body, or behind its last chunk.
func overCuts(name, line string, lines []string) ([]*hostileCase, error) {
	whole := ""
	for _, l := range lines {
		if verb, text, _ := strings.Cut(l, " "); strings.HasSuffix(verb, "-cut") {
			var err error
			if whole, err = unescape(text); err != nil {
				return nil, err
			}
		}
	}
	head := strings.Index(whole, "\r\n\r\n") + len("\r\n\r\n")
	tail := len(whole)
	if i := strings.LastIndex(whole, "\r\n0\r\n"); i >= head {
		tail = i + len("\r\n0\r\n")
	}
	first, last := 1, head-1
	switch line {
	case "cuts body":
		first, last = head, tail-1
	case "cuts tail":
		first, last = tail, len(whole)-1
	}
	if whole == "" || last < first {
		return nil, fmt.Errorf("case %s: nothing to cut", name)
	}
	var out []*hostileCase
	for cut := first; cut <= last; cut++ {
		c, err := build(name, fmt.Sprintf("%s@%d", name, cut), lines, cut)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

var repeated = regexp.MustCompile(`\{(\d+)\*([^{}]*)\}`)

// unescape reads Go's escapes and repeats.
func unescape(s string) (string, error) {
	out, err := strconv.Unquote(`"` + strings.ReplaceAll(s, `"`, `\"`) + `"`)
	if err != nil {
		return "", fmt.Errorf("%q: %w", s, err)
	}
	for repeated.MatchString(out) { // from the inner ones to the outer
		out = repeated.ReplaceAllStringFunc(out, func(r string) string {
			m := repeated.FindStringSubmatch(r)
			n, _ := strconv.Atoi(m[1])
			return strings.Repeat(m[2], n)
		})
	}
	return out, nil
}
