package config

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// layOut writes files into a new folder, which is the working folder then. Each begins with a line "-- NAME --"; NAME -> TARGET is a
// symbolic link, and a name that ends in a slash a folder.
func layOut(t *testing.T, text string) {
	t.Helper()
	t.Chdir(t.TempDir())
	heads := regexp.MustCompile(`(?m)^-- (.*) --\n`)
	for i, at := range heads.FindAllStringSubmatchIndex(text, -1) {
		content := heads.Split(text, -1)[i+1]
		name, target, link := strings.Cut(text[at[2]:at[3]], " -> ")
		if err := os.MkdirAll(filepath.Dir(name+"x"), 0o700); err != nil {
			t.Fatal(err)
		}
		var err error
		switch {
		case link:
			err = os.Symlink(target, name)
		case !strings.HasSuffix(name, "/"):
			err = os.WriteFile(name, []byte(content), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// loaded returns what is said about edge.yaml in the working folder: its routes and origins and the warnings, or the errors.
func loaded(t *testing.T) string {
	t.Helper()
	c, err := Load("edge.yaml")
	if err != nil {
		return err.Error()
	}
	var all []string
	for _, r := range c.Routes {
		all = append(all, r.Name+">"+r.Origin)
	}
	all = append(all, "of")
	for _, o := range c.Origins {
		all = append(all, o.Name)
	}
	out := strings.Join(all, " ")
	for _, w := range c.Warnings() {
		out += "\n" + w.String()
	}
	return out
}

func TestIncludedRoutesAndOrigins(t *testing.T) {
	f := func(name, files, want string) {
		t.Run(name, func(t *testing.T) {
			layOut(t, files)
			if got := loaded(t); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
	f("stand behind those of the file, those of a folder sorted by name", `-- edge.yaml --
include: [sites, last.yaml]
origins: {app: {servers: ["http://h"]}}
routes: [{name: own, match: {path: /own}, origin: app}]
-- sites/b.yaml --
origins: {b: {servers: ["http://b"]}}
routes: [{name: b, match: {path: /b}, origin: b}, {name: b2, match: {path: /b2}, origin: app}]
-- sites/a.yaml --
routes: [{name: a, match: {path: /a}, origin: b}]
-- sites/.hidden.yaml --
not: read
-- sites/readme.txt --
not read
-- last.yaml --
routes: [{name: rest, origin: app}]
`, "own>app a>b b>b b2>app rest>app of app b")
	f("need no others in the file", `-- edge.yaml --
include: sites.yaml
-- sites.yaml --
origins: {app: {servers: ["http://h"]}}
`, "default>app of app")
	f("of an empty file are none", `-- edge.yaml --
include: sites.yaml
origins: {app: {servers: ["http://h"]}}
-- sites.yaml --
# nothing yet
`, "default>app of app")
	f("of an empty folder are none, with a warning", `-- edge.yaml --
origins: {app: {servers: ["http://h"]}}
include: sites
-- sites/ --
`, "default>app of app\nedge.yaml:2:10: include: sites: the folder has no file with a name that ends in .yaml")
	f("of a file with another ending are left out, with a warning", `-- edge.yaml --
origins: {app: {servers: ["http://h"]}}
include: [sites]
-- sites/a.yml --
-- sites/b.yaml --
`, "default>app of app\nedge.yaml:2:11: include[0]: sites: sites/a.yml is not read: of a folder, files with names that end in .yaml are")
	f("come through the links of a ConfigMap", `-- edge.yaml --
include: conf
-- conf/..1/a.yaml --
origins: {app: {servers: ["http://h"]}}
-- conf/..data -> ..1 --
-- conf/a.yaml -> ..data/a.yaml --
`, "default>app of app")
	f("are not in the file", `-- edge.yaml --
include: ""
origins: {app: {servers: ["http://h"]}}
`, "default>app of app")
	f("stand beside the file, wherever it is started from", `-- edge.yaml -> etc/edge.yaml --
-- etc/edge.yaml --
include: sites.yaml
-- etc/sites.yaml --
origins: {no: {servers: ["http://no"]}}
-- sites.yaml --
origins: {app: {servers: ["http://h"]}}
`, "default>app of app")
}

func TestMistakesOfIncludedFiles(t *testing.T) {
	f := func(name, files, want string) {
		t.Run(name, func(t *testing.T) {
			layOut(t, files)
			if got := loaded(t); got != strings.TrimSpace(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
	const main = "-- edge.yaml --\norigins: {app: {servers: [\"http://h\"]}}\ninclude: [a.yaml, b.yaml]\nlimits: {ranges: 0}\n"
	f("are reported together, in the order of the files", main+`-- a.yaml --
routes:
  - {name: a, match: {path: a}, origin: app}
  - {name: b, orgin: app}
-- b.yaml --
origins: {b: {servers: ["http://h"], queue: {wait: 3}}}
routes: [{name: a, origin: none}]
`, `
edge.yaml:3:18: limits.ranges: 0: must be 1 to 1000
a.yaml:2:29: routes[0].match.path: a: must be a path that begins with /
a.yaml:3:5: routes[1].origin: is missing: name an origin, or write redirect or respond in its place
a.yaml:3:15: routes[1].orgin: unknown key, did you mean origin?
b.yaml:1:52: origins.b.queue.wait: 3: must be a duration with a unit (ms, s, m, h, d or w), such as 3s
b.yaml:2:17: routes[2].name: a: must be a unique name: this is the name of routes[0] in a.yaml:2:5
b.yaml:2:28: routes[2].origin: none: must be the name of an origin: app or b
`)
	f("are other keys", main+`-- a.yaml --
cache: {default_ttl: 1s}
include: b.yaml
-- b.yaml --
route: []
`, `
edge.yaml:3:18: limits.ranges: 0: must be 1 to 1000
a.yaml:1:1: cache: must be in edge.yaml: an included file has only routes and origins
a.yaml:2:1: include: must be in edge.yaml only: an included file includes no others
b.yaml:1:1: route: unknown key, did you mean routes?
`)
	f("are an origin that there is", main+`-- a.yaml --
origins: {b: {servers: ["http://h"]}}
routes: [{name: a, origin: b}]
-- b.yaml --
origins:
  app: {servers: ["http://h"]}
  b: {servers: ["http://h"]}
`, `
edge.yaml:3:18: limits.ranges: 0: must be 1 to 1000
b.yaml:2:3: origins.app: given twice, first in edge.yaml:1:11
b.yaml:3:3: origins.b: given twice, first in a.yaml:1:11
`)
	f("are no YAML, and no sections", main+`-- a.yaml --
routes: [
-- b.yaml --
- routes
`, `
edge.yaml:3:18: limits.ranges: 0: must be 1 to 1000
a.yaml:1:9: not valid YAML: sequence end token ']' not found
b.yaml:1:1: a list: must be a section with routes and origins: other settings belong in edge.yaml
`)
	f("are values of another kind", main+`-- a.yaml --
routes: {a: {}}
origins: [a]
-- b.yaml --
routes:
`, `
edge.yaml:3:18: limits.ranges: 0: must be 1 to 1000
a.yaml:1:9: routes: a section: must be a list of routes
a.yaml:2:10: origins: a list: must be a section of origins by their names
b.yaml:1:1: routes: nothing: must be a list of routes
`)
	f("hide no origin of theirs", `-- edge.yaml --
include: a.yaml
routes: [{name: a, origin: of-the-broken-file}]
-- a.yaml --
origins: {
`, `a.yaml:1:10: not valid YAML: could not find flow mapping end token '}'`)
	f("are missing, or read twice", `-- edge.yaml --
origins: {app: {servers: ["http://h"]}}
include:
  - none.yaml
  - sites
  - sites/a.yaml
  - ./
  - ""
-- sites/a.yaml --
`, `
edge.yaml:3:5: include[0]: none.yaml: must be a file or a folder that can be read: open none.yaml: no such file or directory
edge.yaml:5:5: include[2]: sites/a.yaml: each file must be listed once: sites/a.yaml is read already, as sites/a.yaml
edge.yaml:6:5: include[3]: ./: each file must be listed once: edge.yaml is read already, as edge.yaml
edge.yaml:7:5: include[4]: "": must be a file or a folder
`)
	f("are told of the other files of a folder too", `-- edge.yaml --
origins: {app: {servers: ["http://h"]}}
include: sites
-- sites/a.yaml -> nowhere --
-- sites/b.yaml --
routes: [{name: b, orgin: app}]
-- sites/c.yaml -> b.yaml --
`, `
edge.yaml:2:10: include: sites: must be a file or a folder that can be read: open sites/a.yaml: no such file or directory
edge.yaml:2:10: include: sites: each file must be listed once: sites/c.yaml is read already, as sites/b.yaml
sites/b.yaml:1:10: routes[0].origin: is missing: name an origin, or write redirect or respond in its place
sites/b.yaml:1:20: routes[0].orgin: unknown key, did you mean origin?
`)
	f("are no files", `-- edge.yaml --
origins: {app: {servers: ["http://h"]}}
include: /dev/null
`, `edge.yaml:2:10: include: /dev/null: /dev/null: must be a regular file, or a folder`)
	f("are of another kind", `-- edge.yaml --
origins: {app: {servers: ["http://h"]}}
include: {a: b}
`, `edge.yaml:2:10: include: a section: must be a file, a folder, or a list of them`)
	f("are too large", main+"-- a.yaml --\n"+strings.Repeat("#", maxFileBytes+1)+"\n-- b.yaml --\n", `
edge.yaml:3:18: limits.ranges: 0: must be 1 to 1000
a.yaml:1:1: must be a file of at most 1MiB
`)
}

func TestTheOriginOfAFlagNamesTheFileWithOrigins(t *testing.T) {
	layOut(t, "-- edge.yaml --\ninclude: a.yaml\n-- a.yaml --\norigins: {app: {servers: [\"http://h\"]}}\n")
	_, err := LoadWith("edge.yaml", Flags{Origin: "http://h"})
	if want := "--origin: http://h: remove the flag: a.yaml has origins"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// The variables are those of the environment, and one may hold the list of files.
func TestIncludeTakesVariables(t *testing.T) {
	layOut(t, "-- edge.yaml --\ninclude: ${FILES}\n-- a.yaml --\norigins: {app: {servers: [\"${SERVER}\"]}}\n-- b.yaml --\nroutes: [{name: b, origin: app}]\n")
	t.Setenv("FILES", "a.yaml, b.yaml")
	t.Setenv("SERVER", "http://h")
	if got, want := loaded(t), "b>app of app"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// What is printed is one file. Moving a route into another file is no change.
func TestAnIncludedFileIsPartOfTheConfiguration(t *testing.T) {
	layOut(t, "-- edge.yaml --\ninclude: a.yaml\norigins: {app: {servers: [\"http://h\"]}}\n-- a.yaml --\nroutes: [{name: a, origin: app}]\n"+
		"-- whole.yaml --\norigins: {app: {servers: [\"http://h\"]}}\nroutes: [{name: a, origin: app}]\n")
	c, err := Load("edge.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := c.Included(), []Included{{"a.yaml", 1, 0}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	whole, err := Load("whole.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if changes := Changes(c, whole); len(changes) > 0 {
		t.Errorf("got %v, want no change", changes)
	}
	text, err := c.Effective()
	if err != nil {
		t.Fatal(err)
	}
	want, err := whole.Effective()
	if err != nil {
		t.Fatal(err)
	}
	if text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	if f := c.Fault("routes[0].origin", "want another"); f.Error() != "a.yaml:1:28: routes[0].origin: app: want another" {
		t.Errorf("got %v, want its place in a.yaml", f)
	}
}

func TestInputsSeeWhatHasChanged(t *testing.T) {
	const files = "-- edge.yaml --\ninclude: [sites, a.yaml]\norigins: {app: {servers: [\"http://h\"]}}\n-- a.yaml --\n-- sites/b.yaml --\n-- sites/note --\n"
	f := func(want bool, change func() error) {
		t.Helper()
		layOut(t, files)
		var in Inputs
		if !in.Changed() {
			t.Error("got no change of what was never read")
		}
		if _, err := in.Load("edge.yaml", Flags{}); err != nil {
			t.Fatal(err)
		}
		if in.Changed() {
			t.Error("got a change at once")
		}
		if got, want := in.Files(), []string{"edge.yaml", "sites/b.yaml", "a.yaml"}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		if got, want := in.Folders(), []string{"sites"}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if got := in.Changed(); got != want {
			t.Errorf("got changed %v, want %v", got, want)
		}
		_, _ = in.Load("edge.yaml", Flags{}) // it may fail
		if in.Changed() {
			t.Error("got a change of what was read just now")
		}
	}
	wrote := func(name string) func() error {
		return func() error { return os.WriteFile(name, []byte("limits: {ranges: 1}\n"), 0o600) }
	}
	f(true, wrote("edge.yaml"))
	f(true, wrote("a.yaml"))
	f(true, wrote("sites/b.yaml"))
	f(true, wrote("sites/c.yaml"))
	f(false, wrote("sites/note"))
	f(false, wrote("b.yaml"))
	f(true, func() error { return os.Remove("sites/b.yaml") })
	f(true, func() error { return os.Remove("a.yaml") })
	f(true, func() error { return os.RemoveAll("sites") })
}

// The file itself may be about to be replaced: until it is there again nothing is reported.
func TestAFileThatIsMissingHasNotChanged(t *testing.T) {
	layOut(t, "-- edge.yaml --\norigins: {app: {servers: [\"http://h\"]}}\n")
	var in Inputs
	if _, err := in.Load("edge.yaml", Flags{}); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove("edge.yaml"); err != nil {
		t.Fatal(err)
	}
	if in.Changed() {
		t.Error("got a change, want none")
	}
}
