package hostile

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// hostileCase is one case, ready to be played.
type hostileCase struct {
	block string // the name in the file; those made of one have the same
	name  string

	limit  time.Duration // every limit of time of the edge; 0: the defaults
	last   bool
	flood  bool // interim responses are left out of account
	client []step
	origin [][]step // one list for each request
	early  bool

	answers []wantAnswer
	has     []string
	lacks   []string
	end     string // open, kept, closed, dropped or left
	seen    []string
	stored  []wantStored
	stale   int
	told    map[string]bool // the kinds of expectations there are
}

// wantAnswer is an answer that the client must get.
type wantAnswer struct {
	status string
	body   *string
	head   bool
	broken bool
}

// wantStored is what a later request must find.
type wantStored struct{ target, body string }

const noCut = -1

// build reads the lines of one case. cut is where say-cut and send-cut end.
func build(block, name string, lines []string, cut int) (*hostileCase, error) {
	c := &hostileCase{block: block, name: name, told: map[string]bool{}}
	for _, line := range lines {
		if err := c.add(line, cut); err != nil {
			return nil, fmt.Errorf("case %s: %q: %w", name, line, err)
		}
	}
	for _, kind := range []string{"end", "origin", "stored"} {
		if !c.told[kind] {
			return nil, fmt.Errorf("case %s: nothing is said of %s", name, kind)
		}
	}
	if len(c.answers) == 0 && (c.end == "open" || c.end == "kept") || len(c.client) == 0 {
		return nil, fmt.Errorf("case %s: nothing happens", name)
	}
	if c.last && (c.end == "open" || c.end == "kept") {
		return nil, fmt.Errorf("case %s: last, but the connection stays open", name)
	}
	return c, nil
}

func (c *hostileCase) add(line string, cut int) error {
	if want, ok := strings.CutPrefix(line, "-> "); ok {
		return c.expect(want)
	}
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "hasty":
		c.limit = shortly
		return nil
	case "patient":
		c.limit = later
		return nil
	case "last":
		c.last = true
		return nil
	case "early":
		c.early = true
		return nil
	case "then":
		c.origin = append(c.origin, nil)
		return nil
	}
	s, err := newStep(verb, rest, cut)
	if err != nil {
		return err
	}
	if slices.Contains([]string{"send", "send-drip", "send-end", "leave", "stall", "await", "await-origin", "await-played"}, s.verb) {
		c.client = append(c.client, s)
		if verb == "send-cut" {
			c.client = append(c.client, step{verb: "send-end"})
		}
		return nil
	}
	if len(c.origin) == 0 {
		c.origin = append(c.origin, nil)
	}
	last := &c.origin[len(c.origin)-1]
	*last = append(*last, s)
	if verb == "say-cut" {
		*last = append(*last, step{verb: "say-end"})
	}
	return nil
}

func newStep(verb, rest string, cut int) (s step, err error) {
	s = step{verb: verb}
	switch verb {
	case "send-end", "leave", "stall", "say-end", "say-reset", "say-nothing":
		if rest != "" {
			return s, errors.New("want nothing behind the verb")
		}
		return s, nil
	case "await-origin", "await-played":
		s.number, err = strconv.Atoi(rest)
		return s, err
	case "send-drip", "say-drip":
		words := strings.SplitN(rest, " ", 3)
		if len(words) < 3 {
			return s, errors.New("want N D TEXT")
		}
		if s.number, err = strconv.Atoi(words[0]); err != nil {
			return s, err
		}
		s.period, rest = words[1], words[2]
	case "send", "send-cut", "say", "say-cut", "await", "await-client":
	default:
		return s, errors.New("unknown verb")
	}
	if s.text, err = unescape(rest); err != nil || s.text == "" {
		return s, errors.Join(err, errors.New("want a text"))
	}
	if plain, ok := strings.CutSuffix(verb, "-cut"); ok {
		if cut < 0 || cut > len(s.text) {
			return s, errors.New("no cut is set")
		}
		s.verb, s.text = plain, s.text[:cut]
	}
	return s, nil
}

func (c *hostileCase) expect(want string) error {
	verb, rest, _ := strings.Cut(want, " ")
	switch verb {
	case "refused":
		c.told["origin"], c.told["stored"], c.told["end"], c.end = true, true, true, "closed"
		c.answers = append(c.answers, wantAnswer{status: rest})
		return nil
	case "open", "kept", "closed", "dropped", "left":
		c.end, c.told["end"] = verb, true
		return nil
	case "origin":
		return c.expectOrigin(rest)
	case "stale":
		var err error
		c.told["stored"] = true
		c.stale, err = strconv.Atoi(rest)
		return err
	case "stored":
		return c.expectStored(rest)
	}
	return c.expectAnswer(verb, rest)
}

func (c *hostileCase) expectOrigin(rest string) error {
	c.told["origin"] = true
	if rest == "none" {
		return nil
	}
	text, err := unescape(rest)
	c.seen = append(c.seen, text)
	return err
}

func (c *hostileCase) expectStored(rest string) error {
	c.told["stored"] = true
	if rest == "none" {
		return nil
	}
	text, err := unescape(rest)
	target, body, _ := strings.Cut(text, " ")
	c.stored = append(c.stored, wantStored{target, body})
	return err
}

func (c *hostileCase) expectAnswer(verb, rest string) error {
	a := wantAnswer{status: verb}
	text, err := unescape(rest)
	if err != nil {
		return err
	}
	switch verb {
	case "has":
		c.has = append(c.has, text)
		return nil
	case "lacks":
		c.lacks = append(c.lacks, text)
		return nil
	case "head":
		a.status, a.head = rest, true
	case "flood":
		c.flood = true
		a.status, text, _ = strings.Cut(text, " ")
		if text != "" {
			a.body = &text
		}
	case "broken":
		a.status, text, _ = strings.Cut(text, " ")
		a.broken, a.body = true, &text
	default:
		if rest != "" {
			a.body = &text
		}
	}
	if n, err := strconv.Atoi(a.status); err != nil || n < 100 || n > 999 {
		return errors.New("unknown expectation")
	}
	c.answers = append(c.answers, a)
	return nil
}
