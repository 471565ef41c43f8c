package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgeproxy/internal/lab/command"
	"edgeproxy/internal/lab/trace"
)

// replayOf is the replay of lines, whose format is found out.
func replayOf(lines string) *replay {
	t, err := trace.Read(context.Background(), []string{"-"}, trace.Options{Input: strings.NewReader(lines), Keys: true})
	if err != nil {
		panic(err) // the test is wrong
	}
	return newReplay("t", t)
}

// sequence asks for n objects, once each, 3 bytes long.
func sequence(n int) *replay {
	var lines strings.Builder
	for i := range n {
		fmt.Fprintf(&lines, "%d %d 3\n", i, i)
	}
	return replayOf(lines.String())
}

// objects asks for one object of each size.
func objects(sizes ...int64) *replay {
	var lines strings.Builder
	for i, n := range sizes {
		fmt.Fprintf(&lines, "%d %d %d\n", i, i, n)
	}
	return replayOf(lines.String())
}

// targets asks for each target, with a size of 1.
func targets(list ...string) *replay {
	return replayOf("url\tbytes\n" + strings.Join(list, "\t1\n") + "\t1\n")
}

// sent returns the numbers of the objects in the order they are asked for in.
func (r *replay) sent(t *testing.T) (order []uint32) {
	t.Helper()
	err := r.Each(t.Context(), func(batch []trace.Access) error {
		for _, a := range batch {
			order = append(order, a.Object)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return order
}

func TestDifferentKeysNeverShareATarget(t *testing.T) {
	r := targets("/a b", "/a%20b", "/mapped/1", "//x", "/mapped/2", "//y", "/a b", "//x")
	seen := map[string]bool{}
	for _, o := range r.objects {
		if seen[o.target] {
			t.Errorf("target %s given twice", o.target)
		}
		seen[o.target] = true
	}
	if order := r.sent(t); len(r.objects) != 6 || order[6] != order[0] || order[7] != order[3] {
		t.Errorf("got %d objects, order %v; want 6, equal keys alike", len(r.objects), order)
	}
	if got := r.objects[1].target; got != "/mapped/1" {
		t.Errorf("the second of two keys with one target: got %s, want a made-up one", got)
	}
	if r.mapped != 5 {
		t.Errorf("got %d targets made up, want 5", r.mapped)
	}
}

func TestTheSameTargetOfTwoHostsIsTwoTargets(t *testing.T) {
	line := `{"host":"%s","target":"/x","method":"GET","status":200,"bytes":1}` + "\n"
	r := replayOf(fmt.Sprintf(line, "a") + fmt.Sprintf(line, "b"))
	if len(r.objects) != 2 || r.objects[0].target != "/x" || r.objects[1].target != "/mapped/1" {
		t.Errorf("got %+v, want /x and a made-up target", r.objects)
	}
}

// TestInterruptWhileReadingIsNoBadUsage: only a trace that cannot be used is.
func TestInterruptWhileReadingIsNoBadUsage(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := parse(t, "--trace", "zipf:").load(ctx); command.Code("loadtest", err, io.Discard) != command.Failed {
		t.Errorf("got %v, want exit 1", err)
	}
	if _, err := parse(t, "--trace", "zipf:objects=0").load(t.Context()); command.Code("loadtest", err, io.Discard) != command.Usage {
		t.Errorf("got %v, want exit 2", err)
	}
}

// TestRealTraces: nearly all targets of real files are sent as they are. The
// files are no part of the project; where they are not there, the samples above
// have to do.
func TestRealTraces(t *testing.T) {
	f := func(file string, mapped int) {
		t.Helper()
		t.Run(file, func(t *testing.T) {
			path := filepath.Join("..", "..", "shared", "traces", file)
			if _, err := os.Stat(path); err != nil {
				t.Logf("not checked: %v", err)
				return
			}
			r, err := parse(t, "--trace", path).load(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if r.mapped != mapped {
				t.Errorf("got %d targets made up, want %d", r.mapped, mapped)
			}
		})
	}
	f("adaptsize.tr", 0)
	f("nasa-1995-08-01.tsv", 2)
	f("apache-combined-2015.log", 2)
}

func FuzzReplay(f *testing.F) {
	f.Add("1 2 3\n4 5 6\n")
	f.Add(`h - - [t] "GET /\x41\"\\ HTTP/1.1" 200 1` + "\n")
	f.Add("method\turl\tresponse\tbytes\nGET\t/\t200\t1\nGET\t//\t200\t1\nGET\t/%2e\t200\t1\n")
	f.Fuzz(func(t *testing.T, text string) {
		tr, err := trace.Read(t.Context(), []string{"-"}, trace.Options{Input: strings.NewReader(text), Keys: true})
		if err != nil {
			return
		}
		defer tr.Close()
		given := map[string]bool{}
		for _, o := range newReplay("fuzz", tr).objects {
			path, _, _ := strings.Cut(o.target, "?")
			if given[o.target] || !strings.HasPrefix(o.target, "/") || ambiguous(path) || escape(o.target) != o.target || o.bytes < 0 {
				t.Errorf("unfit or repeated object %+v", o)
			}
			given[o.target] = true
		}
	})
}
