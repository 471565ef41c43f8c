package http2

import (
	"slices"

	"github.com/dunglas/httpsfv"
)

// priority is when a stream is sent (RFC 9218 section 4).
type priority struct {
	urgency     uint8 // 0 goes first, 7 last
	incremental bool  // the client can use a part of it, so it takes turns with others of its urgency
}

// The default priority of a stream (RFC 9218 section 4.1), and that of a stream whose client has not sent any
// priority yet. Such a client may be a proxy for many, so all its streams share.
var (
	usual = priority{urgency: 3}
	equal = priority{urgency: 3, incremental: true}
)

// parsePriority reads a Priority field on top of p. What cannot be read changes nothing, and
// neither does what is unknown (RFC 9218 section 4).
func parsePriority(text string, p priority) priority {
	if out, ok := shortPriority(text, p); ok || len(text) > mostPriority {
		return out
	}
	dictionary, err := httpsfv.UnmarshalDictionary([]string{text})
	if err != nil {
		return p
	}
	if member, ok := dictionary.Get("u"); ok {
		if item, ok := member.(httpsfv.Item); ok {
			if u, ok := item.Value.(int64); ok && u >= 0 && u <= 7 {
				p.urgency = uint8(u)
			}
		}
	}
	if member, ok := dictionary.Get("i"); ok {
		if item, ok := member.(httpsfv.Item); ok {
			if i, ok := item.Value.(bool); ok {
				p.incremental = i
			}
		}
	}
	return p
}

// mostPriority is how long a field may be that is read.
const mostPriority = 256

// shortPriority reads what browsers send.
func shortPriority(text string, p priority) (out priority, ok bool) {
	was := p
	if len(text) >= 3 && text[0] == 'u' && text[1] == '=' && '0' <= text[2] && text[2] <= '7' {
		p.urgency = text[2] - '0'
		switch text[3:] {
		case "":
			return p, true
		case ", i", ",i":
			p.incremental = true
			return p, true
		}
		return was, false
	}
	if text == "i" {
		p.incremental = true
		return p, true
	}
	return was, false
}

// schedule holds the streams that have content to send and a window for it.
type schedule struct {
	levels [8]level
	count  int
}

// level has the streams of one urgency. Streams that are not incremental are sent in the order in
// which they were asked for; the incremental ones take turns (RFC 9218 section 10).
type level struct {
	whole, parts []*stream
	turn         bool // parts have the turn, where there are both
}

// add puts s in. It must not be in.
func (q *schedule) add(s *stream) {
	l := &q.levels[s.priority.urgency]
	if s.priority.incremental {
		l.parts = append(l.parts, s)
	} else {
		at, _ := slices.BinarySearchFunc(l.whole, s.id, func(o *stream, id uint32) int { return int(o.id) - int(id) })
		l.whole = slices.Insert(l.whole, at, s)
	}
	s.ready = true
	q.count++
}

// remove takes s out, if it is in.
func (q *schedule) remove(s *stream) {
	if !s.ready {
		return
	}
	s.ready = false
	q.count--
	l := &q.levels[s.priority.urgency]
	list := &l.whole
	if s.priority.incremental {
		list = &l.parts
	}
	if at := slices.Index(*list, s); at >= 0 {
		*list = slices.Delete(*list, at, at+1)
	}
}

// next returns the stream whose turn it is, which stays in; nil: there is none.
func (q *schedule) next() *stream {
	for i := range q.levels {
		l := &q.levels[i]
		if len(l.parts) > 0 && (l.turn || len(l.whole) == 0) {
			s := l.parts[0]
			copy(l.parts, l.parts[1:])
			l.parts[len(l.parts)-1] = s
			l.turn = false
			return s
		}
		if len(l.whole) > 0 {
			l.turn = true
			return l.whole[0]
		}
	}
	return nil
}
