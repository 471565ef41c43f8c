package config

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

var update = flag.Bool("update", false, "write the files that are made from the tables anew")

// generated is what is made from the tables.
func generated() map[string][]byte {
	return map[string][]byte{
		"edgeproxy.yaml":               []byte(Reference()),
		"../docs/settings.md":          []byte(Page()),
		"../docs/settings.schema.json": Schema(),
	}
}

func TestGeneratedFilesAreUpToDate(t *testing.T) {
	for name, want := range generated() {
		if *update {
			if err := os.WriteFile(name, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(got), string(want)); diff != "" {
			t.Errorf("%s: is -, should be +; make settings writes it:\n%s", name, diff)
		}
	}
}

// Every row says what a person needs to know.
func TestEveryRowIsComplete(t *testing.T) {
	new(Config).table().walkNames("", func(path string, s row) {
		if s.about == "" || !strings.HasSuffix(s.about, ".") || strings.Contains(s.about, "  ") {
			t.Errorf("%s: got %q, want sentences", path, s.about)
		}
		if _, ok := s.value.(*group); !ok && s.value.kind() == "" {
			t.Errorf("%s: no kind", path)
		}
		if s.flag != "" && s.flagHelp == "" {
			t.Errorf("%s: no help for %s", path, s.flag)
		}
	})
}

// A default that is refused could not be written out.
func TestDefaultsAreInTheirRanges(t *testing.T) {
	c := sampleConfig()
	v := &validator{report: newReport(newSource(caseFile)), c: c}
	c.table().walk("", func(path string, s row) {
		if !s.optional && !strings.HasPrefix(path, "routes[0].admission.") { // which has none
			v.src.places.set(path, place{line: 1, column: 1})
		}
	})
	v.src.places.forget("admission.second_hit.capacity")
	c.table().check(v, "")
	if err := v.err(); err != nil {
		t.Error(err)
	}
}

func TestStarterPassesTheChecks(t *testing.T) {
	c, err := Parse("edge.yaml", []byte(Starter()))
	if err != nil {
		t.Fatal(err)
	}
	if w := c.Warnings(); len(w) > 0 {
		t.Errorf("got warnings %v", w)
	}
	if got := Changes(sampleConfig(), c); len(got) > 0 {
		t.Errorf("got other values than the defaults: %v", got)
	}
	if n := strings.Count(Starter(), "\n"); n > 60 {
		t.Errorf("got %d lines, want it short", n)
	}
}

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("edgeproxy.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("edgeproxy.json") // held to the schema of schemas
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// bySchema returns what the schema says of a file.
func bySchema(t *testing.T, s *jsonschema.Schema, text string) error {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return err
	}
	return s.Validate(doc)
}

// What check accepts, an editor does not underline.
func TestSchemaTakesWhatTheChecksTake(t *testing.T) {
	s := compiled(t)
	eachCase(t, func(name, input, want string) {
		if !strings.HasPrefix(want, "ok") || strings.Contains(name, "NUL") {
			return
		}
		if err := bySchema(t, s, input); err != nil {
			t.Errorf("%s: %v\n%s", name, err, input)
		}
	})
	for name, text := range map[string]string{"every key": everyKey, "reference": Reference(), "starter": Starter()} {
		if err := bySchema(t, s, text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An editor underlined policy: second_hit, which check takes.
func TestSchemaRefusedWordsWithTheOtherSeparator(t *testing.T) {
	s := compiled(t)
	for _, text := range []string{
		"admission: {policy: second_hit}", "admission: {policy: second-hit}", "cache: {invalidate: same-url}", "cache: {invalidate: same_url}",
		"routes: [{name: a, origin: app, admission: {policy: second_hit}}]",
	} {
		text += "\norigins: {app: {servers: [\"http://h\"], balance: least-connections}}\n"
		if err := bySchema(t, s, text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if _, err := parse(caseFile, []byte(text), Flags{Policy: "second_hit"}, environment); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestSchemaRefuses(t *testing.T) {
	s := compiled(t)
	for _, text := range []string{
		"cahce: {}", "limits: {ranges: 0}", "limits: {ranges: 1001}", "limits: {ranges: many}", "limits: {header_bytes: 16}", "limits: {header_bytes: 1TiB}",
		"limits: {read_idle_timeout: 30}", "limits: {read_idle_timeout: soon}", "admission: {policy: sometimes}", "admission: {warm_up_below: 1.5}", "admission: {second_hit: {false_positive_rate: 0}}",
		"routes: [{origin: a}]", "routes: [{name: a, origin: b, cache: {memory: {}}}]", "routes: {}", "origins: {app: {}}", "origins: [app]", "cache: {upgrades: maybe}",
		"cache: {ttl_by_status: {100: 1s}}", "listen: [{tls: true}]", "cache: {disk: {path: {a: b}}}", "routes: [{name: a, origin: b, cache: {disk: {}}}]", "routes: [{name: a, origin: b, match: {path_suffix: {a: b}}}]",
	} {
		if err := bySchema(t, s, text); err == nil {
			t.Errorf("%s: got no problem", text)
		}
	}
}
