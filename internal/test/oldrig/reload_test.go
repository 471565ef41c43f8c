package edgetest

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"

	"edgeproxy/internal/origin"
)

// reload takes the settings of its lines, in the words of set, all at once. What takes a
// restart is refused. Besides: origin NAME and route NAME have other names from then on.
func (w *world) reload(s *step) error {
	next := w.edge.options
	next.Caching.TTLByStatus = maps.Clone(next.Caching.TTLByStatus)
	for _, line := range s.lines {
		before, was := next, next.Origin
		key, value, _ := strings.Cut(line, " ")
		var err error
		switch {
		case key == "origin":
			next.Origin.Name = value
		case key == "route" && !strings.Contains(value, " "):
			next.Route = value
		default:
			err = next.apply(&step{verb: "set", rest: line})
		}
		if err != nil {
			return err
		}
		a, err1 := before.live(w.edge.origin)
		b, err2 := next.live(w.edge.origin)
		if errors.Join(err1, err2) != nil || reflect.DeepEqual(a, b) && !differs(&was, &next.Origin) {
			return fmt.Errorf("%s: changes nothing that is live", line)
		}
	}
	return w.edge.Reload(&next, differs(&w.edge.options.Origin, &next.Origin))
}

// differs reports whether an origin with the one options is another than with the other.
func differs(a, b *origin.Options) bool {
	return a.Name != b.Name || a.FirstByteTimeout != b.FirstByteTimeout || a.IdleTimeout != b.IdleTimeout ||
		a.MaxConnections != b.MaxConnections || a.QueueRequests != b.QueueRequests || a.QueueWait != b.QueueWait
}
