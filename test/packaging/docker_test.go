package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"edgeproxy/internal/test/testkit"
)

// TestTheImageHasWhatItNames goes through the Dockerfile, line by line, and looks into the folder that it is built from.
func TestTheImageHasWhatItNames(t *testing.T) {
	t.Parallel()
	folder := imageFolder(t)
	from := ""
	last := map[string]string{} // keys are instructions, in the last stage
	for line := range strings.Lines(text(t, "packaging/docker/Dockerfile")) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "", "#":
			continue
		case "FROM":
			image, name, ok := strings.Cut(rest, " AS ")
			if !ok || image != "scratch" {
				t.Fatalf("%q: want scratch and a name, so that no image is pulled", line)
			}
			from = name
			clear(last)
		case "COPY":
			f := strings.Fields(rest)
			source := f[len(f)-2]
			if _, err := os.Stat(filepath.Join(folder, source)); err != nil {
				t.Errorf("%q: %v", line, err)
			}
			for _, program := range []string{"edgeproxy", "tour-origin"} {
				if source == program {
					checkStatic(t, filepath.Join(folder, source), runtime.GOARCH)
				}
			}
		case "USER", "EXPOSE", "VOLUME", "STOPSIGNAL", "HEALTHCHECK", "ENTRYPOINT", "CMD":
			last[word] = rest
		default:
			t.Errorf("%q: no instruction", line)
		}
	}
	if from != "edgeproxy" {
		t.Errorf("the last stage is %s, want edgeproxy", from)
	}
	if !regexp.MustCompile(`^[1-9]\d*:[1-9]\d*$`).MatchString(last["USER"]) {
		t.Errorf("USER %s: want numbers, since scratch has no names", last["USER"])
	}
	if !strings.HasSuffix(last["HEALTHCHECK"], `CMD ["/edgeproxy", "health"]`) || last["ENTRYPOINT"] != `["/edgeproxy"]` || last["CMD"] != `["serve", "-c", "/etc/edgeproxy/edgeproxy.yaml"]` {
		t.Errorf("got %v", last)
	}
}

// TestTheFilesOfTheDemoFitTogether: what compose.yaml mounts is there, and the names in one file are
// those of the others.
func TestTheFilesOfTheDemoFitTogether(t *testing.T) {
	t.Parallel()
	const dir = "packaging/docker"
	var c struct {
		Services map[string]struct {
			Build     struct{ Target string }
			Image     string
			DependsOn []string `yaml:"depends_on"`
			Volumes   []string
		}
		Volumes map[string]any
	}
	if err := yaml.Unmarshal([]byte(text(t, dir+"/compose.yaml")), &c); err != nil {
		t.Fatal(err)
	}
	dockerfile := text(t, dir+"/Dockerfile")
	for name, s := range c.Services {
		if s.Build.Target != "" && !strings.Contains(dockerfile, " AS "+s.Build.Target+"\n") {
			t.Errorf("%s: built as %+v, and there is no such target", name, s.Build)
		}
		if s.Build.Target == "" && !regexp.MustCompile(`:v?\d+\.\d+\.\d+$`).MatchString(s.Image) {
			t.Errorf("%s: image %q, want a version", name, s.Image)
		}
		for _, other := range s.DependsOn {
			if _, ok := c.Services[other]; !ok {
				t.Errorf("%s waits for %s, which is not there", name, other)
			}
		}
		for _, v := range s.Volumes {
			source, _, _ := strings.Cut(v, ":")
			if _, ok := c.Volumes[source]; ok {
				continue
			}
			if _, err := os.Stat(filepath.Join(root, dir, source)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for file, want := range map[string]string{
		"edgeproxy.yaml": "http://origin:9000", "prometheus.yaml": `"edgeproxy:9981"`, "grafana/datasources/prometheus.yaml": "http://prometheus:9090",
	} {
		if !strings.Contains(text(t, dir+"/"+file), want) {
			t.Errorf("%s names no %s", file, want)
		}
		if host := regexp.MustCompile(`\w+:\d+`).FindString(want); c.Services[strings.Split(host, ":")[0]].Build.Target == "" && c.Services[strings.Split(host, ":")[0]].Image == "" {
			t.Errorf("%s: no service for %s", file, host)
		}
	}
	here := strings.ReplaceAll(text(t, dir+"/edgeproxy.yaml"), "/var/lib/edgeproxy/", t.TempDir()+"/") // where the image has a folder
	cmd := exec.Command(testkit.Built(t), "check", "-c", write(t, "edgeproxy.yaml", here))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	config := write(t, "prometheus.yaml", strings.ReplaceAll(text(t, dir+"/prometheus.yaml"), "edgeproxy.rules.yaml", absolute(t, rulesFile)))
	run(t, promtool(t, "check", "config", config))
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	a, err := filepath.Abs(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return a
}
