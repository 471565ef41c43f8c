package trace

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func mustFields(t *testing.T, text string) (f Fields) {
	t.Helper()
	if err := f.Set(text); err != nil {
		t.Fatal(err)
	}
	return f
}

// TestALogWithOtherNamesCouldNotBeRead: JSON, TSV and CSV were read by a few names only.
func TestALogWithOtherNamesCouldNotBeRead(t *testing.T) {
	f := func(name, fields, text string, bad, skipped int64, want ...string) {
		t.Helper()
		tr := read(t, text, Options{Fields: mustFields(t, fields), Heads: true})
		if diff := cmp.Diff(want, plain(t, tr)); diff != "" {
			t.Errorf("%s: requests (-want +got):\n%s", name, diff)
		}
		if facts := tr.Facts(); facts.BadLines != bad || facts.Skipped != skipped {
			t.Errorf("%s: got %d bad, %d skipped; want %d, %d", name, facts.BadLines, facts.Skipped, bad, skipped)
		}
	}
	f("json", "target=u,host=h,bytes=n", `{"u":"/a","h":"X:443","n":5}
{"u":"/a","h":"x","n":"7","other":{"u":"/no"}}
{"u":"https://y/b?c","n":1}
{"u":"/a","h":"x"}
{"u":"/a","h":"x","n":null,"status":304}
{"u":"/a","h":"x","n":3,"status":404}
{"u":"/a","h":"x","n":3,"status":200,"method":"POST"}
{"u":["/a"],"h":"x","n":3}
no object
`, 3, 2, "x /a 7", "x /a 7", "y /b?c 1", "x /a 7")
	f("paths, and names with dots", "target=http.path,query=http.q,host=url.domain,bytes=b.c.d,status=s,method=m,time=@timestamp",
		`{"http":{"path":"/a","q":"?x=1"},"url.domain":"h","b":{"c":{"d":9}},"s":200,"m":"GET","@timestamp":"2024-06-01 10:00:00"}
{"http":{"path":"/a","q":"-"},"url":{"domain":"h"},"b.c":{"d":9},"s":"200","m":"HEAD","@timestamp":1717236001}
`, 0, 0, "h /a?x=1 9", "h /a 0")
	f("a request line", "request=line,bytes=n", `{"line":"GET /a HTTP/1.1","n":5,"path":"/not/this"}
{"line":"","n":5}
`, 0, 1, "/a 5")
	f("csv", "target=page,host=site,bytes=kb,method=how", "site,how,page,kb,time\nX,GET,/a,5.0,1\nx,PUT,/a,5,1\nx,HEAD,/a,,2\nx,GET,/a,,2\nx,GET,\"/b,c\",6,3\n", 1, 1, "x /a 5", "x /a 5", "x /b,c 6")
	f("tsv", "target=page", "page\tsize\n/a\t5\n", 0, 0, "/a 5")
	f("columns by number", "target=2,bytes=4,host=1", "x,/a,200,5\nx,/b,200,6\nx,/b\n", 1, 0, "x /a 5", "x /b 6")
	f("columns of tsv by number", "request=1,bytes=2", "GET /a HTTP/1.1\t5\n", 0, 0, "/a 5")
	f("behind a prefix", "target=u,bytes=n", "app-1 | {\"u\":\"/a\",\"n\":5}\napp-1 | {\"u\":\"/b\",\"n\":6}\n", 0, 0, "/a 5", "/b 6")
	f("a name of ours", "target=uri,bytes=size", `{"uri":"/a","size":5,"target":"/b","bytes":6}`, 0, 0, "/a 5")
}

func TestFieldsThatAreNotThereAreSaid(t *testing.T) {
	f := func(fields, format, text, want string) {
		t.Helper()
		_, err := try(t, text, Options{Fields: mustFields(t, fields), Format: format})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s, %q: got %v, want %q", fields, format, err, want)
		}
	}
	f("target=u,bytes=n", "", `{"u":"/a","m":5}`+"\n"+`{"u":"/a"}`, `none of the first 2 lines has the field "n" (bytes), which --fields names`)
	f("target=u,host=h,bytes=n", "", `{"u":"/a","n":5}`, `the field "h" (host)`)
	f("target=u,bytes=n", "", "u,size\n/a,5\n", `no column "n"`)
	f("target=u,host=h", "", "u,size\n/a,5\n", `no column "h"`)
	f("target=u", "", "u\tx\n/a\t5\n", `no column "bytes", nor one of its other names`)
	f("target=1,host=2", "", "/a,5\n", "must be those of target and of bytes")
	f("target=1,bytes=0", "", "/a,5\n", "column 0 of bytes: must be 1 to 1000")
	f("target=u,bytes=n", formatJSON, "u,n\n/a,5\n", `the field "n" (bytes), "u" (target)`)
	f("target=u,bytes=n", formatCSV, `{"u":"/a","n":5}`, "rules of quoting")
	f("target=u,bytes=n", formatCombined, "1 2 3\n", "target=u,bytes=n: must have no other format than json, tsv or csv: combined names its fields itself")
	f("target=u,bytes=n", "", "{\n\"u\": \"/a\",\n\"n\": 5\n}\n", "jq -c")
	f("target=u,bytes=n", "", "", "no usable request")

	for text, want := range map[string]string{
		"target":              `"target": must be ROLE=FIELD with a role of target, host, bytes, status, method, time, date, query, request, such as`,
		"size=n":              `"size=n": must be ROLE=FIELD`,
		"target=":             `"target=": must be ROLE=FIELD`,
		"target=a,target=b":   "target is given twice",
		"target=a,bytes=a":    `the field "a" is given twice`,
		"":                    "must be ROLE=FIELD",
		"target=\x1b[2J,host": `"host": must be`,
	} {
		var fields Fields
		if err := fields.Set(text); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

func TestFieldsAreWrittenAsTheyAreRead(t *testing.T) {
	const text = "target=a,bytes=b,query=c"
	fields := mustFields(t, "query=c, bytes=b")
	if err := fields.Set("target=a"); err != nil || fields.String() != text {
		t.Errorf("got %q, %v, want %q", fields.String(), err, text)
	}
	if none := new(Fields); none.String() != "" || none.given() {
		t.Errorf("got %q of no fields", none)
	}
	if got := FieldRoles(); slices.Contains(got, "") || len(got) != int(roles) {
		t.Errorf("got the roles %q", got)
	}
}

// FuzzFields: whatever the names and the log, lines are used, skipped or bad.
func FuzzFields(f *testing.F) {
	f.Add("target=u,host=h.i,bytes=n", `{"u":"/a","h":{"i":"x"},"n":5}`)
	f.Add("target=2,bytes=1", "5,/a\n6,/b\n")
	f.Add("request=line,bytes=n,time=t,date=d", "line\tn\tt\td\nGET /a HTTP/1.1\t5\t10:00:00\t2024-06-01\n")
	f.Fuzz(func(t *testing.T, text, log string) {
		var fields Fields
		if fields.Set(text) != nil {
			return
		}
		tr, err := try(t, log, Options{Fields: fields})
		if err != nil {
			return
		}
		packed := strings.HasPrefix(log, "\x1f\x8b") || strings.HasPrefix(log, "\x28\xb5\x2f\xfd")
		if facts, lines := tr.Facts(), int64(strings.Count(log, "\n"))+1; !packed && facts.Requests+facts.BadLines+facts.Skipped > lines {
			t.Errorf("got %+v of %d lines", facts, lines)
		}
	})
}
