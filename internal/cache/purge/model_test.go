package purge_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"edgeproxy/internal/cache/purge"
)

// naive keeps every purge for ever and looks at all of them.
type naive []naivePurge

type naivePurge struct {
	kind string
	url  purge.URL
	tag  string
	soft bool
}

func (n naive) check(born uint64, u purge.URL, tags []string) purge.State {
	s := purge.Valid
	for i, p := range n {
		if born >= uint64(i+1) || !p.reaches(u, tags) {
			continue
		}
		if !p.soft {
			return purge.Gone
		}
		s = purge.Stale
	}
	return s
}

func (p naivePurge) reaches(u purge.URL, tags []string) bool {
	host := bytes.Equal(p.url.Host, u.Host)
	site := host && p.url.Scheme == u.Scheme
	switch p.kind {
	case "host":
		return host
	case "prefix":
		return site && bytes.HasPrefix(u.Target, p.url.Target)
	case "url":
		return site && bytes.Equal(p.url.Target, u.Target)
	case "tag":
		return slices.Contains(tags, p.tag)
	case "host's tag":
		return host && slices.Contains(tags, p.tag)
	}
	return true
}

func (p naivePurge) do(t *purge.Table) {
	switch p.kind {
	case "host":
		t.Host(p.url.Host, p.soft)
	case "prefix":
		t.Prefix(p.url, p.soft)
	case "url":
		t.URL(p.url, p.soft)
	case "tag":
		t.Tag(t.HashTag(p.tag), p.soft)
	case "host's tag":
		t.HostTags(p.url.Host, p.soft, t.HashTag(p.tag))
	default:
		t.All(p.soft)
	}
}

// world draws purges and responses from few hosts, short paths of two letters and
// few tags, so that they meet.
type world struct{ *rand.Rand }

func (w world) url() purge.URL {
	target := []byte{'/'}
	for range w.IntN(6) {
		target = append(target, "ab/"[w.IntN(3)])
	}
	return purge.URL{
		Scheme: []string{"http", "https"}[w.IntN(2)],
		Host:   fmt.Appendf(nil, "h%d", w.IntN(4)), Target: target,
	}
}

func (w world) tag() string { return fmt.Sprint("t", w.IntN(40)) }

func (w world) purge() naivePurge {
	p := naivePurge{kind: "prefix", url: w.url(), tag: w.tag(), soft: w.IntN(2) == 0}
	switch n := w.IntN(100); {
	case n == 0:
		p.kind = "all"
	case n < 4:
		p.kind = "host"
	case n < 30:
		p.kind = "url"
	case n < 50:
		p.kind = "tag"
	case n < 60:
		p.kind = "host's tag"
	}
	return p
}

// run makes purges and calls compare with the states of random responses by the
// model and the table.
func run(t *testing.T, seed uint64, o purge.Options, compare func(what string, want, got purge.State)) *purge.Table {
	t.Helper()
	w := world{rand.New(rand.NewPCG(seed, 0))}
	table := purge.New(o)
	var model naive
	for range 250 {
		p := w.purge()
		model = append(model, p)
		p.do(table)
		for range 20 {
			born := uint64(w.IntN(len(model) + 1))
			if w.IntN(2) == 0 {
				born = uint64(max(0, len(model)-w.IntN(12)))
			}
			u, tags := w.url(), []string{w.tag(), w.tag()}
			hashes := []uint64{table.HashTag(tags[0]), table.HashTag(tags[1])}
			what := fmt.Sprintf("seed %d, %d purges: %s://%s%s %v born %d", seed, len(model), u.Scheme, u.Host, u.Target, tags, born)
			compare(what, model.check(born, u, tags), table.Check(born, u, hashes))
		}
	}
	return table
}

func TestTableWithRoomIsExact(t *testing.T) {
	for seed := range uint64(6) {
		table := run(t, seed, purge.Options{}, func(what string, want, got purge.State) {
			if got != want {
				t.Fatalf("%s: got %v, want %v", what, got, want)
			}
		})
		if got := table.Stats().Folded; got != 0 {
			t.Errorf("seed %d: got %d marks folded, want 0", seed, got)
		}
	}
}

func TestTableWithoutRoomPurgesTooMuchAndNeverTooLittle(t *testing.T) {
	for seed := range uint64(6) {
		more := 0
		table := run(t, seed, purge.Options{Tags: 1, URLs: 1, Hosts: 1, Prefixes: 3}, func(what string, want, got purge.State) {
			if got < want {
				t.Fatalf("%s: got %v, want at least %v", what, got, want)
			}
			if got > want {
				more++
			}
		})
		if table.Stats().Folded == 0 || more == 0 {
			t.Errorf("seed %d: got %d marks folded and %d too many purged: the test is about both", seed, table.Stats().Folded, more)
		}
	}
}
