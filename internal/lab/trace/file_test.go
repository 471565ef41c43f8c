package trace

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"edgeproxy/internal/test/testkit"
)

func packGzip(t testing.TB, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func packZstd(t testing.TB, text string) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll([]byte(text), nil)
}

// TestFilesFollowEachOther: logs that were rotated and packed, in other formats
// and with an empty one among them, are one trace.
func TestFilesFollowEachOther(t *testing.T) {
	paths := []string{
		write(t, "2.gz", append(packGzip(t, "1 a 1\n2 b 2\n"), packGzip(t, "3 a 3\n")...)), // gzip -c >> makes such a file
		write(t, "1.zst", append(packZstd(t, "4 c 4\n"), packZstd(t, "5 a 1")...)),
		write(t, "0", nil),
		"-",
		write(t, "last", []byte(`h - - [t] "GET /o/a HTTP/1.1" 200 9`)),
	}
	tr, err := Read(t.Context(), paths, Options{Keys: true, Input: strings.NewReader("url\tbytes\n/o/b\t7\n")})
	if err != nil {
		t.Fatal(err)
	}
	defer closeTrace(t, tr)
	want := []string{"/o/a 9", "/o/b 7", "/o/a 9", "/o/c 4", "/o/a 9", "/o/b 7", "/o/a 9"}
	if diff := cmp.Diff(want, plain(t, tr)); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if got, want := tr.Facts(), (Facts{Requests: 7, Objects: 3, RequestBytes: 4*9 + 2*7 + 4, UniqueBytes: 20, OneHitObjects: 1}); got != want {
		t.Errorf("facts: got %+v, want %+v", got, want)
	}
}

func TestBrokenFileIsAnErrorThatNamesIt(t *testing.T) {
	f := func(name string, data []byte, want string) {
		t.Helper()
		_, err := Read(t.Context(), []string{write(t, name, data)}, Options{})
		if err == nil || !strings.Contains(err.Error(), "read "+name+": ") || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want the file and %q", err, want)
		}
	}
	whole := packGzip(t, "1 a 1\n")
	f("cut.gz", whole[:12], "unexpected EOF")
	whole = packZstd(t, strings.Repeat("1 a 1\n", 1000))
	f("cut.zst", whole[:9], "unexpected EOF")
	// A frame that says it needs a window of 256 MiB.
	f("wide.zst", []byte("\x28\xb5\x2f\xfd\x00\x90\x01\x00\x00"), "window size exceeded")
	missing := t.TempDir() + "/none"
	for _, path := range []string{missing, t.TempDir(), "zipf:objects=0", "popularity:" + missing} {
		_, err := Read(t.Context(), []string{"-", path}, Options{Input: failing{}})
		if _, ok := errors.AsType[*SourceError](err); !ok {
			t.Errorf("%s: got %v, want a SourceError before anything is read", path, err)
		}
	}
	if _, err := Read(t.Context(), []string{"-"}, Options{Input: failing{}}); !errors.Is(err, errDisk) {
		t.Errorf("got %v, want the error of the reader", err)
	}
	later := io.MultiReader(strings.NewReader(strings.Repeat("1 a 1\n", maxLineBytes/3)), failing{})
	if _, err := Read(t.Context(), []string{"-"}, Options{Input: later}); !errors.Is(err, errDisk) {
		t.Errorf("underway: got %v, want the error of the reader", err)
	}
}

var errDisk = errors.New("disk on fire")

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errDisk }

func TestLimitCountsLines(t *testing.T) {
	got := read(t, "1 a 1\nodd\n3 b 1\n4 c 1\n", Options{Limit: 3, Format: formatSeq})
	if f := got.Facts(); f.Requests != 2 || f.BadLines != 1 {
		t.Errorf("got %+v; want the requests and the odd one of three lines", f)
	}
	more, err := Read(t.Context(), []string{"-", "zipf:requests=10", "zipf:requests=10", "-"},
		Options{Limit: 15, Input: strings.NewReader("1 a 1\n2 b 2")})
	if err != nil {
		t.Fatal(err)
	}
	defer closeTrace(t, more)
	if got := more.Facts().Requests; got != 15 {
		t.Errorf("got %d requests, want the limit over all, 15", got)
	}
}

func TestEndlessLineIsOneBadLine(t *testing.T) {
	text := "1 a 1\n" + strings.Repeat("x", 3*maxLineBytes) + "\n2 b 1\n" + strings.Repeat("y", maxLineBytes+1)
	if f := read(t, text, Options{}).Facts(); f.BadLines != 2 || f.Requests != 2 {
		t.Errorf("got %+v; want 2 bad lines, 2 requests", f)
	}
	id := strings.Repeat("i", maxLineBytes-len("1  1\n"))
	if f := read(t, "1 "+id+" 1\n1 "+id+"i 1\n", Options{}).Facts(); f.BadLines != 1 || f.Requests != 1 {
		t.Errorf("got %+v; want a line of 64 KiB used and one a byte longer bad", f)
	}
}

func TestTimesNeverRunBackwards(t *testing.T) {
	tr := read(t, "url,bytes,time\na,1,100\na,1,99.5\nb,1,100.25\nb,1,\nb,1,0\nb,1,101\n"+strings.Repeat("c,1,102\n", 94), Options{})
	if !tr.HasTimes() {
		t.Error("99 of 100 lines have a time: want HasTimes")
	}
	var got []int64
	for _, a := range accesses(t, tr)[:6] {
		got = append(got, a.At/1e6)
	}
	if want := []int64{100_000, 100_000, 100_250, 100_250, 100_250, 101_000}; !slices.Equal(got, want) {
		t.Errorf("got %v ms, want %v", got, want)
	}
}

// TestLinesBeforeTheFirstTime: they must not seem decades older than the rest.
func TestLinesBeforeTheFirstTime(t *testing.T) {
	tr := read(t, "url,bytes,time\na,1,-\n"+strings.Repeat("a,1,1700000000\n", 99), Options{})
	if got := accesses(t, tr)[0].At; got != 1700000000e9 {
		t.Errorf("got %d, want the first time known", got)
	}
}

func TestWithoutTimesAllAreZero(t *testing.T) {
	tr := read(t, "url,bytes,time\na,1,-\na,1,-\n"+strings.Repeat("a,1,1700000000\n", 98), Options{})
	if tr.HasTimes() {
		t.Error("98 of 100 lines have a time: want none")
	}
	for i, a := range accesses(t, tr) {
		if a.At != 0 {
			t.Fatalf("request %d: got %d, want 0", i, a.At)
		}
	}
}

func TestEndOfContextEndsTheReading(t *testing.T) {
	f := func(path string, limit int64) {
		t.Helper()
		t.Setenv("TMPDIR", t.TempDir())
		why := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(why)
		if _, err := Read(ctx, []string{path}, Options{Limit: limit, Input: strings.NewReader("1 a 1\n")}); !errors.Is(err, why) {
			t.Errorf("%s: got %v, want the cause", path, err)
		}
	}
	f("-", 0)
	f("zipf:", 0)
	f("popularity:"+write(t, "p", []byte("1\n1 1\n")), 0)
}

func TestProgressRisesToTheWhole(t *testing.T) {
	f := func(want int64, paths ...string) {
		t.Helper()
		var calls, last int64
		tr, err := Read(t.Context(), paths, Options{
			Input: bytes.NewReader(combinedLines(20_000)),
			Progress: func(read, total int64) {
				if read < last || want > 0 && (total != want || read > total) || want == 0 && total != 0 {
					t.Errorf("%v: got %d of %d after %d, want a rise to %d", paths, read, total, last, want)
				}
				calls++
				last = read
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		closeTrace(t, tr)
		if calls < 3 || want > 0 && last != want {
			t.Errorf("%v: %d calls, the last with %d; want several and %d", paths, calls, last, want)
		}
	}
	data := combinedLines(20_000)
	path := write(t, "log", data)
	f(int64(2*len(data)), path, path)
	f(0, path, "-")
	f(int64(len(data))+1_100_000, path, "zipf:requests=1100000,objects=10,one-hit=0")
}

// A tape pads its files, and a copy may have been resumed in the wrong place.
func TestBytesBehindAGzipFileAreLeftOutAndSaid(t *testing.T) {
	f := func(behind string, want ...string) {
		t.Helper()
		packed := append(packGzip(t, "1 a 1\n"), packGzip(t, "2 b 2\n")...)
		tr, err := Read(t.Context(), []string{write(t, "padded.gz", append(packed, behind...))}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer closeTrace(t, tr)
		if got := tr.Notes().Trailing; !slices.Equal(got, want) || tr.Facts().Requests != 2 || tr.Facts().BadLines != 0 {
			t.Errorf("behind: %q: got %v and %+v, want %v and 2 requests", behind, got, tr.Facts(), want)
		}
	}
	f("")
	f(strings.Repeat("\x00", 512), "padded.gz")
	f("1 c 1\n", "padded.gz")
	f("\x1f", "padded.gz")
}

// Characters that a terminal would obey are escaped wherever a path is printed.
func TestPathsAreToldInPrintableLetters(t *testing.T) {
	const odd = "no\x1b[2J\n.log"
	if got, want := Name("/var/"+odd), `no\x1b[2J\n.log`; got != want {
		t.Errorf("Name: got %q, want %q", got, want)
	}
	if got, want := Name("/var/\xff"), `\xff`; got != want {
		t.Errorf("Name: got %q, want %q", got, want)
	}
	for _, path := range []string{odd, "zipf:" + odd, "popularity:" + odd, write(t, odd, []byte("what is this\n"))} {
		_, err := Read(t.Context(), []string{path}, Options{})
		if err == nil || strings.ContainsAny(err.Error(), "\x1b\n") {
			t.Errorf("%q: got %q, want no control characters in it", path, err)
		}
	}
}

func TestNames(t *testing.T) {
	f := func(path, want string) {
		t.Helper()
		if got := Name(path); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
	f("/var/log/access.log.gz", "access.log.gz")
	f("-", "standard input")
	f("zipf", "zipf:")
	f("zipf:seed=1", "zipf:seed=1")
	f("popularity:/data/tc.txt,seed=2", "popularity:/data/tc.txt,seed=2")
	f("./zipf", "zipf")
	f("zipfian.log", "zipfian.log")
	f("Zugriffe für März.log", "Zugriffe für März.log")
}

// TestReadingAllocatesNothingPerLine keeps a log of millions of lines cheap.
func TestReadingAllocatesNothingPerLine(t *testing.T) {
	testkit.Plain(t, "it counts allocations")
	f := func(name, line string) {
		t.Helper()
		form, err := formatOf(name)
		if err != nil {
			t.Fatal(err)
		}
		header, line, _ := strings.Cut(line, "\n")
		lines := bufio.NewReaderSize(strings.NewReader(header+"\n"), maxLineBytes)
		parse, err := form.open(lines)
		if err != nil {
			t.Fatal(err)
		}
		if line == "" {
			line = header
		}
		b, text := newBuilder(false), []byte(line)
		n := testing.AllocsPerRun(2000, func() {
			if err := b.use(parse, text); err != nil {
				t.Fatal(err)
			}
		})
		if n > 0 || b.trace.facts.Requests == 0 {
			t.Errorf("%s: got %v allocations a line, %d requests; want 0 and some", name, n, b.trace.facts.Requests)
		}
	}
	f(formatSeq, "1 7 10")
	f(formatCombined, string(bytes.TrimSpace(combinedLines(1))))
	f(formatCombined, `h - - [01/Aug/1995:00:00:01 -0400] "GET /\x41\"b HTTP/1.0" 304 -`)
	f(formatTSV, "host\ttime\tmethod\turl\tresponse\tbytes\nh\t807256800.25\tGET\t/a\t200\t5")
	f(formatCSV, "time,url,bytes\n2026-01-02T03:04:05Z,\"/a\"\"b\",5")
	f(formatJSON, `{"time":"2026-01-02T03:04:05.000006Z","host":"a","target":"/x","method":"GET","status":200,"bytes":7,"result":"miss"}`)
	f(formatCombined, `www.example.org:443 192.0.2.1 - - [01/Aug/1995:00:00:01 -0400] "GET / HTTP/1.0" 200 5 "-" "-"`)
	for _, log := range []struct{ format, text string }{
		{"envoy", istioLog},
		{"envoy", envoyJSONLog},
		{"haproxy", haproxyLog},
		{"alb", albLog},
		{"traefik", traefikLog},
		{"ingress-nginx", ingressLog},
		{"ingress-nginx", ingressJSONLog},
		{"cloudflare", cloudflareLog},
		{"cloudfront", cloudFrontJSONLog},
		{"gcp", gcpLog},
		{formatSquid, squidLog},
	} {
		first, _, _ := strings.Cut(log.text, "\n")
		f(log.format, first)
	}
}
