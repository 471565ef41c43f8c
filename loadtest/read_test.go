package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// replayed is a trace in plain words: "target size" for each request.
func replayed(t *trace) (out []string) {
	for _, i := range t.order {
		out = append(out, t.objects[i].target+" "+size(t.objects[i].bytes))
	}
	return out
}

func TestReadersTakeTheRequestsAndCountTheRest(t *testing.T) {
	f := func(name, format, text string, bad, skipped, mapped int, want ...string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			for _, force := range []string{"", format} {
				got, err := readLines(name, strings.NewReader(text), force, 0)
				if err != nil {
					t.Fatalf("--format %q: %v", force, err)
				}
				if diff := cmp.Diff(want, replayed(got)); diff != "" {
					t.Errorf("--format %q: requests (-want +got):\n%s", force, diff)
				}
				if got.badLines != bad || got.skippedLines != skipped || got.mapped != mapped {
					t.Errorf("--format %q: got %d bad, %d skipped, %d made up; want %d, %d, %d",
						force, got.badLines, got.skippedLines, got.mapped, bad, skipped, mapped)
				}
			}
		})
	}
	f("seq", formatSeq, "1 7 10\n2 x 20\n\n3 7 15\r\n4 7\nx 7 3\n5 7 -1\n6 7 99999999999999999\n7 7 1 2\n8 x 0", 5, 0, 0,
		"/o/7 15 B", "/o/x 20 B", "/o/7 15 B", "/o/x 20 B")
	f("combined", formatCombined, `1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET /a?b=c HTTP/1.1" 200 10 "http://r/" "agent"
1.2.3.4 - jo doe [17/May/2015:10:05:03 +0000] "GET /a?b=c HTTP/1.1" 304 - "-" "agent"
1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.0" 200 30
1.2.3.4 - - [17/May/2015:10:05:03 +0000] "HEAD /a HTTP/1.1" 200 0 "-" "-"
1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET /none HTTP/1.1" 404 7 "-" "-"
1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET /cut HTTP/1.1" 200 5 "-" "no end of agent
1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET /with space HTTP/1.1" 200 6 "-" "-"
1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET /q\"\x41 HTTP/1.1" 200 6 "-" "-"
1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET /old" 200 6 "-" "-"
1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET /a//b HTTP/1.1" 200 6 "-" "-"
1.2.3.4 - - [17/May/2015:10:05:03 +0000] "\x16\x03\x01" 400 226 "-" "-"
1.2.3.4 - - [17/May/2015:10:05:03 +0000] "-" 408 - "-" "-"
1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 2000 1 "-" "-"
1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 200 -5 "-" "-"
1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1
nothing of the kind
`, 6, 2, 1,
		"/a?b=c 10 B", "/a?b=c 10 B", "/a 30 B", "/cut 5 B", "/with%20space 6 B", "/q%22A 6 B", "/old 6 B", "/mapped/1 6 B")
	f("tsv", formatTSV, "host\tMethod\turl\tresponse\tbytes\treferer\nh\tGET\t/a\t200\t5\t\nh\tGET\t/a\t304\t0\t\nh\tPOST\t/a\t200\t9\t\nh\tGET\t/b\t404\t1\t\n"+
		"h\tGET\t/short\nh\tGET\t/a\t200\tmany\t\nh\tGET\t\t200\t1\t\n", 3, 2, 0,
		"/a 5 B", "/a 5 B")
}

func TestLimitCountsLines(t *testing.T) {
	got, err := readLines("t", strings.NewReader("1 a 1\nodd\n3 b 1\n4 c 1\n"), formatSeq, 3)
	if err != nil || len(got.order) != 2 || got.badLines != 1 {
		t.Errorf("got %v, error %v; want the requests and the odd one of three lines", got, err)
	}
}

func TestEndlessLineIsOneBadLine(t *testing.T) {
	text := "1 a 1\n" + strings.Repeat("x", 3*maxLineBytes) + "\n2 b 1\n" + strings.Repeat("y", maxLineBytes+1)
	got, err := readLines("t", strings.NewReader(text), "", 0)
	if err != nil {
		t.Fatal(err)
	}
	if got.badLines != 2 || len(got.order) != 2 {
		t.Errorf("got %d bad lines, %d requests; want 2, 2", got.badLines, len(got.order))
	}
}

func TestUnusableTraceIsAnErrorThatSaysWhy(t *testing.T) {
	f := func(name, text, format, want string) {
		t.Helper()
		if _, err := readLines(name, strings.NewReader(text), format, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want %q", name, err, want)
		}
	}
	f("popularity", "1\n1.0 0.04\n2.0 0.07\n3.0 0.03\n2\n1.0 0.5\n", "", "popularity distribution")
	f("gzip", "\x1f\x8b\x08rest", "", "unpack it first")
	f("prose", "Call me Ishmael.\nSome years ago\n", "", "format not recognised")
	f("empty", "", "", "format not recognised")
	f("nothing usable", "odd\n1 2\n", formatSeq, "no usable request (2 bad lines, 0 skipped)")
	f("only posts", `h - - [t] "POST / HTTP/1.1" 200 1`, "", "no usable request (0 bad lines, 1 skipped)")
	f("no header", "a\tb\n1\t2\n", formatTSV, `no column "method"`)
	f("no line at all", "", formatTSV, "read the header line")
}

func TestOddFirstLinesDoNotDecideTheFormat(t *testing.T) {
	got, err := detect([]byte("# made by hand\n1\n1 2 3\n2 3 4\n3 4 5\n"))
	if err != nil || got != formatSeq {
		t.Errorf("got %q, %v; want seq", got, err)
	}
}

// TestRealTraces checks the readers against the facts known of the real files:
// requests, objects, unique bytes, objects asked for once. The files are no part
// of the project; where they are not there, the samples above have to do.
func TestRealTraces(t *testing.T) {
	f := func(file string, want facts) {
		t.Helper()
		t.Run(file, func(t *testing.T) {
			path := filepath.Join("..", "..", "shared", "traces", file)
			if _, err := os.Stat(path); err != nil {
				t.Logf("not checked: %v", err)
				return
			}
			tr, err := readTrace(path, "", 0)
			if err != nil {
				t.Fatal(err)
			}
			if got := tr.facts(); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
			t.Logf("%d skipped lines, %d targets made up", tr.skippedLines, tr.mapped)
		})
	}
	f("adaptsize.tr", facts{Requests: 66987, Objects: 36815, RequestBytes: 504495684, UniqueBytes: 280431244, OneHitObjects: 29858})
	f("nasa-1995-08-01.tsv", facts{Requests: 30297, Objects: 1739, RequestBytes: 553347136, UniqueBytes: 109359310, OneHitObjects: 660})
	f("apache-combined-2015.log", facts{Requests: 9536, Objects: 1387, RequestBytes: 3201524302, UniqueBytes: 561277715, OneHitObjects: 757})
}

func FuzzReadLines(f *testing.F) {
	f.Add("1 2 3\n4 5 6\n")
	f.Add(`h - - [t] "GET /\x41\"\\ HTTP/1.1" 200 1` + "\n")
	f.Add("method\turl\tresponse\tbytes\nGET\t/\t200\t1\n")
	f.Fuzz(func(t *testing.T, text string) {
		tr, err := readLines("fuzz", strings.NewReader(text), "", 0)
		if err != nil {
			return
		}
		targets := map[string]bool{}
		for _, o := range tr.objects {
			path, _, _ := strings.Cut(o.target, "?")
			if targets[o.target] || !strings.HasPrefix(o.target, "/") || ambiguous(path) || escape(o.target) != o.target || o.bytes < 0 {
				t.Errorf("unfit or repeated object %+v", o)
			}
			targets[o.target] = true
		}
	})
}
