package config

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/http/wire"
	"edgeproxy/internal/test/testkit"
)

// FuzzParse asks of any file: it is refused with a place for each problem, in
// order and each on one line, or taken, and then it is complete.
func FuzzParse(f *testing.F) {
	testkit.Plain(f, "thousands of seeds of one goroutine")
	f.Add([]byte(everyKey))
	every := testkit.Times(1, 10) // the quick run tries one seed of ten
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for n, text := range strings.Split(string(data), "== ") {
			if n%every != 0 {
				continue
			}
			_, text, _ = strings.Cut(text, "\n")
			input, _, _ := strings.Cut(text, "-----\n")
			f.Add([]byte(input))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 4096 {
			return
		}
		c, err := parse(caseFile, data, Flags{}, environment)
		if err != nil {
			checkErrors(t, data, err)
			return
		}
		checkConfig(t, c)
	})
}

func checkErrors(t *testing.T, data []byte, err error) {
	t.Helper()
	var all Errors
	if !errors.As(err, &all) || len(all) == 0 {
		t.Fatalf("got %T %v, want Errors", err, err)
	}
	lines := bytes.Count(data, []byte("\n")) + bytes.Count(data, []byte("\r")) + 1
	for i, e := range all {
		if e.File != caseFile || e.Line < 1 || e.Line > lines || e.Column < 1 || e.Want == "" {
			t.Errorf("got %+v in a file of %d lines, want a place in it", e, lines)
		}
		if i > 0 && all[i-1].Line > e.Line {
			t.Errorf("got line %d before %d, want them in order", all[i-1].Line, e.Line)
		}
		if strings.Contains(e.Error(), "\n") {
			t.Errorf("got %q, want one line", e.Error())
		}
	}
}

func checkConfig(t *testing.T, c *Config) {
	t.Helper()
	if len(c.Listen) == 0 || len(c.Origins) == 0 || len(c.Routes) == 0 {
		t.Errorf("got %+v, want it complete", c)
	}
	for _, o := range c.Origins {
		if len(o.Servers) == 0 {
			t.Errorf("origin %s: got no server", o.Name)
		}
		for _, s := range o.Servers {
			valid := validAddress(s.Address)
			switch {
			case strings.HasPrefix(s.Address, socketPrefix+"/"):
				valid = !s.TLS && !s.SRV
			case s.SRV:
				valid = wire.ValidName(s.Address) && wire.ValidName(s.Host)
			}
			if !valid || s.Weight < 1 || s.Weight > maxWeight {
				t.Errorf("origin %s: got server %v, want one to dial", o.Name, s)
			}
		}
	}
	for _, r := range c.Routes {
		if len(r.Match.Hosts) == 0 || len(r.Match.PathPrefixes) == 0 || !strings.HasPrefix(r.Match.PathPrefixes[0], "/") {
			t.Errorf("route %s: got %+v, want it to match", r.Name, r.Match)
		}
		if counting := r.Admission.Policy == policy.Counting; counting != (r.Admission.MoreThan > 0) {
			t.Errorf("route %s: got %+v, want more_than with counting only", r.Name, r.Admission)
		}
	}
	c.Warnings()
	checkEffective(t, c)
	if err := c.Override(Flags{}); err != nil {
		t.Errorf("checked again: got %v, want no error", err)
	}
}
