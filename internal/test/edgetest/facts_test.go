package edgetest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// expect checks a fact:
//
//	origin-requests N [TARGET]  requests the origin has had so far
//	origin-parallel N           the most it worked on at one moment
//	origin-working N            how many it works on now
//	origin-line METHOD TARGET   of its last request
//	origin-host HOST            of its last request
//	origin-field Name: value    of its last request; or: origin-field no Name
//	origin-trailer Name: value  of its last request; or: no Name, none
//	origin-body TEXT            of its last request
//	metric N NAME [LABEL=VALUE...]
func (w *world) expect(s *step) error {
	words, err := s.words(2)
	if err != nil {
		return err
	}
	rest := strings.TrimSpace(s.rest[len(words[0]):])
	w.mu.Lock()
	defer w.mu.Unlock()
	switch fact := words[0]; {
	case fact == "metric":
		return w.metric(words[1:])
	case fact == "origin-requests" && len(words) == 3:
		asked := 0
		if a := w.answers[words[2]]; a != nil {
			asked = a.asked
		}
		return equal(strconv.Itoa(asked), words[1])
	case fact == "origin-requests":
		return equal(strconv.Itoa(w.origin.Requests()), rest)
	case fact == "origin-parallel":
		return equal(strconv.Itoa(w.most), rest)
	case fact == "origin-working":
		return equal(strconv.Itoa(w.parallel), rest)
	case w.last == nil:
		return fmt.Errorf("the origin had no request")
	case fact == "origin-line":
		return equal(w.last.Method+" "+w.last.RequestURI, rest)
	case fact == "origin-host":
		return equal(w.last.Host, rest)
	case fact == "origin-body":
		return equal(w.last.Content, rest)
	case fact == "origin-trailer":
		return checkTrailer(w.last.Trailer, rest)
	case fact == "origin-field":
		return checkField(w.last.Header, rest)
	}
	return fmt.Errorf("%s: no fact of this name", words[0])
}

func (w *world) metric(words []string) error {
	if len(words) < 2 {
		return fmt.Errorf("want a number and a name, got %q", words)
	}
	want, err := strconv.ParseFloat(words[0], 64)
	if err != nil {
		return err
	}
	if w.edge.Disk() != nil && strings.HasPrefix(words[1], "edgeproxy_cache_") && slices.Contains(words, "tier=memory") {
		return nil // the disk has it
	}
	if got := w.edge.Metric(w.tb, words[1], words[2:]...); got != want {
		return fmt.Errorf("got %v, want %v", got, want)
	}
	return nil
}

func equal(got, want string) error {
	if got != want {
		return fmt.Errorf("got %q, want %q", got, want)
	}
	return nil
}
