package edgetest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"edgeproxy/config"
	"edgeproxy/internal/edge"
)

// configure takes a step that says how an edge is set up.
func (w *world) configure(s *step) error {
	switch s.verb {
	case "config":
		w.yaml = s.yaml
	case "shield":
		w.shielded = &s.yaml
	default:
		if _, err := smallOf(s.rest); err != nil {
			return err
		}
		w.small = append(w.small, s.rest)
	}
	return nil
}

// file writes a file that settings may name.
func (w *world) file(s *step) error {
	name, text, _ := strings.Cut(s.rest, " ")
	if w.filed = true; text == "" {
		text = s.yaml
	}
	return os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600)
}

// reload has the YAML of the step hold from now on. What takes a restart, or changes nothing, is refused.
func (w *world) reload(s *step) error {
	done, err := w.edge.Reload(s.yaml)
	switch {
	case err != nil:
		return err
	case len(done.Restart) > 0:
		return fmt.Errorf("%s takes a restart", done.Restart[0].Path)
	case done.Result == edge.ResultUnchanged && !w.filed:
		return errors.New("changes nothing that is live")
	}
	w.filed = false
	return nil
}

// adjust sets the small sizes of both edges. Of slices, a size is that of each route which has any.
func (w *world) adjust(c *config.Config) {
	for _, s := range w.small {
		set, _ := smallOf(s)
		set(c)
	}
}

// smallOf reads KEY SIZE, the size in bytes.
func smallOf(s string) (set func(*config.Config), err error) {
	key, value, _ := strings.Cut(s, " ")
	n, err := strconv.Atoi(value)
	if err != nil {
		return nil, err
	}
	size := config.Size(n)
	switch key {
	case "cache.slice":
		return func(c *config.Config) {
			for i := range c.Routes {
				c.Routes[i].Cache.SliceBytes = int64(size)
			}
		}, nil
	case "cache.memory.max_bytes":
		return func(c *config.Config) { c.Cache.Memory.MaxBytes = size }, nil
	}
	return nil, fmt.Errorf("small %s: unknown", key)
}

// instance finds the name and the id of an edge in CDN-Loop. Each start draws the id anew.
var instance = regexp.MustCompile(`(\w+); id=([^,"]+)`)

// fillIn replaces {instance} in a step by the id that the edge had in the last request of the origin, and {shield} by that of the shield.
func (w *world) fillIn(s *step) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last == nil {
		return
	}
	for _, found := range instance.FindAllStringSubmatch(w.last.Header.Get("CDN-Loop"), -1) {
		place := map[string]string{Node: "{instance}", "shield": "{shield}"}[found[1]]
		if place == "" {
			continue
		}
		s.rest = strings.ReplaceAll(s.rest, place, found[2])
		for i := range s.lines {
			s.lines[i] = strings.ReplaceAll(s.lines[i], place, found[2])
		}
	}
}

// numbered returns the words, each with {1..N} as often as that says, with the number in its place.
func numbered(words []string) (out []string) {
	for _, word := range words {
		before, rest, has := strings.Cut(word, "{1..")
		last, after, _ := strings.Cut(rest, "}")
		if n, err := strconv.Atoi(last); has && err == nil {
			for i := range n {
				out = append(out, before+strconv.Itoa(i+1)+after)
			}
			continue
		}
		out = append(out, word)
	}
	return slices.Clip(out)
}
