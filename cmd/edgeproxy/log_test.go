package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// appendTo adds text to a file, which is made if need be.
func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func renameFile(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// wantLines reads t once.
func wantLines(t *testing.T, from *tail, want ...string) {
	t.Helper()
	var got []string
	if err := from.read(func(line []byte) { got = append(got, string(line)) }); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got lines %q, want %q", got, want)
	}
}

func newTail(t *testing.T, path string, all bool) *tail {
	t.Helper()
	from, err := openTail(path, all)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = from.Close() })
	return from
}

func TestTailGoesOnOverRotations(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	appendTo(t, path, "before\n")
	from := newTail(t, path, false)
	wantLines(t, from)
	appendTo(t, path, "a\nb\nc, be")
	wantLines(t, from, "a", "b")
	appendTo(t, path, "gun\n")
	renameFile(t, path, path+".1")
	appendTo(t, path+".1", "d\n") // the proxy has not opened the path again
	wantLines(t, from, "c, begun", "d")
	appendTo(t, path, "") // logrotate has made it
	appendTo(t, path+".1", "e\n")
	wantLines(t, from, "e")
	appendTo(t, path+".1", "f\n")
	appendTo(t, path, "g\n")
	wantLines(t, from, "f", "g")
	appendTo(t, path, "h\n")
	wantLines(t, from, "h")
}

func TestTailBeginsAnewWhereTheFileWasCut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	appendTo(t, path, "a long line\nand what has be")
	from := newTail(t, path, true)
	wantLines(t, from, "a long line")
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	appendTo(t, path, "b\n")
	wantLines(t, from, "b")
}

func TestTailPassesOverALineWithoutEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	long := strings.Repeat("x", longestLogLine)
	appendTo(t, path, long+"\n"+long+"y\nz\n"+long+long)
	from := newTail(t, path, true)
	wantLines(t, from, long, "z")
	appendTo(t, path, "\nlast\n")
	wantLines(t, from, "last")
}

// logged is a line of the access log.
func logged(target string, status int, duration, result, reason string) string {
	return fmt.Sprintf(`{"time":"2026-03-04T05:06:07.891011Z","host":"a.example","target":%q,"method":"GET","status":%d,"bytes":2048,"result":%q,"reason":%q,"route":"default",`+
		`"duration":%s,"first_byte":0.001,"client":"192.0.2.1","scheme":"https","origin":"10.0.0.1:80","origin_first_byte":0.25}`+"\n", target, status, result, reason, duration)
}

// printed runs the command log.
func printed(t *testing.T, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	if got := run(t.Context(), append([]string{"log"}, args...), &out, &err); got != want {
		t.Errorf("%q: got exit code %d, want %d: %s", args, got, want, err.String())
	}
	return out.String(), err.String()
}

func TestLogPrintsWhatMeetsTheFilters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	lines := []string{
		logged("/0", 200, "0.0001", "hit", ""), logged("/1", 200, "0.5", "miss", ""), logged("/2", 200, "1.5", "pass", "too-large"), logged("/3", 502, "30", "error", "origin-error"),
	}
	appendTo(t, path, strings.Join(lines, ""))
	f := func(want string, filters ...string) {
		t.Helper()
		got, _ := printed(t, exitDone, append([]string{"--all", "--once", "--json", path}, filters...)...)
		wanted := ""
		for _, n := range want {
			wanted += lines[n-'0']
		}
		if got != wanted {
			t.Errorf("%q: got\n%swant\n%s", filters, got, wanted)
		}
	}
	f("0123")
	f("1", "result=miss")
	f("023", "result!=miss")
	f("2", "reason=too-large")
	f("3", "status>=500")
	f("23", "duration>1s")
	f("23", "duration>=1.5")
	f("0", "duration<=100µs")
	f("012", "status<500", "host=a.example")
	f("", "host=b.example")
	f("0123", "time>2026-03-04T05:06:07+00:00", "time<2026-03-04T05:06:07.9Z")
	f("", "trace_id=x")
	f("", "sightings=0") // which these lines have not

	got, _ := printed(t, exitDone, "--all", "--once", path, "status=502")
	want := "05:06:07.891  502    2.0 KiB    30.00s  192.0.2.1        GET https://a.example/3  error (origin-error)  from 10.0.0.1:80 in 250.0ms\n"
	if got != want {
		t.Errorf("columns: got\n%swant\n%s", got, want)
	}
}

func TestLogRefusesFiltersThatMeanNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	appendTo(t, path, "")
	f := func(filter, want string) {
		t.Helper()
		if _, got := printed(t, exitUsage, "--once", path, filter); !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", filter, got, want)
		}
	}
	f("duration>NaN", "must be seconds or a duration")
	f("duration>+Inf", "must be seconds or a duration")
	f("status>=1s", "must be a number")
	f("statuz=1", "unknown field statuz, must be one of time, host")
	f("result", "must be FIELD=VALUE")
	f("=x", "must be FIELD=VALUE")
	f("result!x", "must be one of >= <=")
	f("host>a", "host is text")
	f("result=hitt", "unknown result hitt, must be one of hit, stale,")
	f("reason!=nostore", "unknown reason nostore, must be one of first-sighting,")
	f("time>noon", "must be a time such as")
	if _, got := printed(t, exitUsage, "--once", path+".none"); !strings.Contains(got, "no such file") {
		t.Errorf("a file that is not there: got %q", got)
	}
}

// Bytes behind the object of a line were shown as if they belonged to it, and a target could
// move the cursor.
func TestLogShowsNothingThatALineDoesNotHold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	whole := logged("/whole", 200, "1", "hit", "")
	appendTo(t, path, strings.TrimSuffix(whole, "\n")+" {\"status\":500}\n"+strings.TrimSuffix(whole, "\n")+"x\nnull\n[1]\ntext\n\n")
	out, err := printed(t, exitDone, "--all", "--once", path)
	if out != "" || !strings.Contains(err, "not one JSON object") || strings.Count(err, "\n") != 1 {
		t.Errorf("got %q and %q, want nothing, and one remark", out, err)
	}
	appendTo(t, path, strings.Replace(logged("/here", 200, "1", "hit", ""), "here", `\u001b[2J\u009b31m\n`, 1))
	out, _ = printed(t, exitDone, "--all", "--once", path)
	if !strings.Contains(out, `/\u001b[2J\u009b31m\u000a`) || strings.Count(out, "\n") != 1 {
		t.Errorf("got %q, want control characters spelled out", out)
	}
}

// TestLogFollows: the command itself, until it is told to end.
func TestLogFollows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	appendTo(t, path, logged("/old", 200, "1", "hit", ""))
	from := newTail(t, path, false)
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- followLog(t.Context(), from, logOptions{raw: true}, nil, w, io.Discard) }()
	want := logged("/new", 200, "1", "hit", "")
	appendTo(t, path, want)
	got := make([]byte, len(want))
	if _, err := io.ReadFull(r, got); err != nil || string(got) != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	_ = r.Close() // nobody reads any more
	appendTo(t, path, want)
	if err := <-done; err == nil {
		t.Error("got no error, want that nobody reads")
	}
}

// The path of the log had to be typed, also where the proxy runs and knows it.
func TestLogWithoutAFileAsksTheProxyForIt(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	config := func(log string) string {
		return writeFile(t, "edge.yaml", `
listen: [{address: "127.0.0.1:0"}]
admin: {address: "127.0.0.1:0"}
origins: {app: {servers: ["http://127.0.0.1:9"]}}
routes: [{name: a, match: {hosts: [a.example]}, origin: app}]
`+log)
	}
	s := serveBinary(t, "-c", config("access_log: {path: "+filepath.Join(folder, "access.log")+"}"))
	get(t, "http://"+s.address+"/nowhere")
	testkit.Eventually(t, "the log has the request", func() bool {
		got, _ := printed(t, exitDone, "--admin", s.admin, "--all", "--once", "--json", "status=404")
		return strings.Contains(got, `"target":"/nowhere"`)
	})
	if got, _ := printed(t, exitDone, "--admin", s.admin, "--all", "--once", "status=200"); got != "" {
		t.Errorf("got %q, want nothing", got)
	}
	none := serveBinary(t, "-c", config(""))
	if _, got := printed(t, exitFailed, "--admin", none.admin, "--once"); !strings.Contains(got, "has no access log: set access_log.path, or name a FILE") {
		t.Errorf("a proxy without a log: got %q", got)
	}
	if _, got := printed(t, exitFailed, "--admin", testkit.QuietAddress(t), "--once", "result=hit"); !strings.Contains(got, "or name the FILE of the access log") {
		t.Errorf("no proxy: got %q", got)
	}
	if _, got := printed(t, exitUsage, "--admin", "nowhere", "--once"); !strings.Contains(got, "must be HOST:PORT, http://HOST:PORT, https://HOST:PORT or unix:PATH") {
		t.Errorf("no address: got %q", got)
	}
}
