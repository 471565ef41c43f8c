package trace

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzRead reads anything in any format: lines are used, skipped or bad, and the
// sums agree with the requests.
func FuzzRead(f *testing.F) {
	f.Add("1 2 3\n4 5 6\n", "")
	f.Add("\xef\xbb\xbfmethod\turl\tresponse\tbytes\nGET\t/\t200\t1\n", "tsv")
	f.Add("url,bytes,time\n\"/a\"\"\",1,2\n", "csv")
	f.Add(`{"target":"/x","method":"GET","status":200,"bytes":7,"time":1}`+"\n", "json")
	f.Add(caddyLog, "")
	f.Add(squidLog, "")
	f.Add(cloudFrontLog, "")
	f.Add(extendedLog, "w3c")
	for _, log := range []string{
		envoyLog, istioLog, envoyJSONLog, haproxyLog, albLog, albCSVLog, traefikLog, traefikJSONLog, ingressLog, ingressJSONLog,
		cloudflareLog, cloudflareCSVLog, cloudFrontJSONLog, gcpLog,
	} {
		f.Add(log, "")
	}
	f.Add("caddy | "+caddyLog, "")
	f.Add("\x1f\x8b\x08", "")
	f.Fuzz(func(t *testing.T, text, format string) {
		tr, err := try(t, text, Options{Format: format})
		if err != nil {
			return
		}
		facts := tr.Facts()
		lines := int64(strings.Count(text, "\n")) + 1
		packed := strings.HasPrefix(text, "\x1f\x8b") || strings.HasPrefix(text, "\x28\xb5\x2f\xfd")
		if !packed && facts.Requests+facts.BadLines+facts.Skipped > lines {
			t.Errorf("got %+v of %d lines", facts, lines)
		}
		var requests, size, last int64
		for _, a := range accesses(t, tr) {
			if a.At < last || !tr.HasTimes() && a.At != 0 {
				t.Errorf("time %d after %d, HasTimes %v", a.At, last, tr.HasTimes())
			}
			last = a.At
			requests++
			size += tr.Objects()[a.Object].Size
		}
		if requests != facts.Requests || size != facts.RequestBytes || int64(len(tr.Objects())) != facts.Objects {
			t.Errorf("got %d requests of %d bytes, facts say %+v", requests, size, facts)
		}
	})
}

func FuzzCombined(f *testing.F) {
	f.Add("/a?b=c", "200", "17")
	f.Add("/with \"quotes\" and \\", "304", "-")
	f.Add("/\x00\x16é", "200", "0")
	f.Fuzz(func(t *testing.T, target, status, sent string) {
		if strings.ContainsAny(status+sent, " \t\n\r\"") {
			return
		}
		// Apache escapes so; then the line says the target exactly.
		var escaped strings.Builder
		for i := range len(target) {
			switch c := target[i]; {
			case c == '"' || c == '\\':
				escaped.WriteString(`\` + string(c))
			case c < ' ' || c > '~':
				escaped.WriteString(`\x` + string("0123456789abcdef"[c>>4]) + string("0123456789ABCDEF"[c&15]))
			default:
				escaped.WriteByte(c)
			}
		}
		line := `h - - [01/Aug/1995:00:00:01 -0400] "GET ` + escaped.String() + ` HTTP/1.1" ` + status + " " + sent + ` "-" "-"`
		var r request
		v := newCombined()([]byte(line), &r)
		n, err := strconv.ParseUint(sent, 10, 41)
		understood := len(status) == 3 && strings.Trim(status, "0123456789") == "" && len(target) > 0 &&
			(sent == "-" || err == nil && n <= maxObjectBytes && len(sent) <= 18)
		if understood != (v != bad) {
			t.Fatalf("%q: got verdict %d", line, v)
		}
		if v == used && (string(r.target) != target || r.size != int64(n) || !r.timed || r.at != 807249601000000) {
			t.Errorf("%q: got %+v", line, r)
		}
	})
}

// FuzzCSV holds the splitting of lines against encoding/csv.
func FuzzCSV(f *testing.F) {
	f.Add(`a,"b,""c""",,"",d`)
	f.Add(`"a"x,b`)
	f.Add(`""""`)
	f.Fuzz(func(t *testing.T, line string) {
		if strings.ContainsAny(line, "\r\n") {
			return
		}
		text := []byte(line)
		fields, ok := newSplitCSV()(nil, text)
		if string(text) != line {
			t.Errorf("%q was changed to %q", line, text)
		}
		r := csv.NewReader(strings.NewReader(line))
		want, err := r.Read()
		if err != nil || line == "" { // encoding/csv takes no bare quotes; an empty line is none
			return
		}
		var got []string
		for _, s := range fields {
			got = append(got, string(s))
		}
		if !ok || !slices.Equal(got, want) {
			t.Errorf("%q: got %q, %v; want %q", line, got, ok, want)
		}
	})
}

// FuzzJSON holds what is read of a line against encoding/json.
func FuzzJSON(f *testing.F) {
	f.Add(`{"time":"2026-01-02T03:04:05.000006Z","host":"a","target":"/x","method":"GET","status":200,"bytes":7,"result":"miss"}`)
	f.Add(`{"a":{"target":["}",{}]},"target":"\u00e9\ud800","status":1e2,"bytes":"7","method":null}`)
	f.Add(` { "t\u0061rget" : "x" , "target":5 } `)
	f.Fuzz(func(t *testing.T, line string) {
		var r request
		v := newJSON()([]byte(line), &r)
		var want map[string]json.RawMessage
		if json.Unmarshal([]byte(line), &want) != nil || want == nil {
			if v != bad {
				t.Errorf("%q: got verdict %d of what is no object", line, v)
			}
			return
		}
		if !utf8.ValidString(line) || want["ts"] != nil {
			return // kept as it is; one of two names for the time
		}
		var s jsonFields
		s.read(bytes.TrimLeft([]byte(line), " \t\r\n")[1:])
		for name, got := range map[string][]byte{"target": s.target, "host": s.host, "method": s.method, "result": s.result, "reason": s.reason} {
			var text *string
			quoted := json.Unmarshal(want[name], &text) == nil && text != nil
			if quoted && string(got) != *text {
				t.Errorf("%q: %s: got %q, want %q", line, name, got, *text)
			}
		}
		for name, got := range map[string][]byte{"status": s.status, "bytes": s.bytes, "time": s.time} {
			if raw := string(want[name]); len(raw) > 0 && raw[0] != '"' && string(got) != raw {
				t.Errorf("%q: %s: got %q, want %q", line, name, got, raw)
			}
		}
	})
}

func FuzzSeq(f *testing.F) {
	f.Add("1 a 3")
	f.Add("1\t/x  99999999999999999999")
	f.Fuzz(func(t *testing.T, line string) {
		if strings.ContainsAny(line, "\r\n\v\f\u0085\u00a0") || !utf8.ValidString(line) {
			return
		}
		var r request
		v := newSeq()([]byte(line), &r)
		words := strings.FieldsFunc(line, func(c rune) bool { return c == ' ' || c == '\t' })
		understood := false
		var size uint64
		if len(words) == 3 && len(words[0]) <= 18 && len(words[2]) <= 18 {
			_, err := strconv.ParseUint(words[0], 10, 63)
			n, err2 := strconv.ParseUint(words[2], 10, 63)
			understood, size = err == nil && err2 == nil && n <= maxObjectBytes, n
		}
		if understood != (v == used) || understood && (string(r.target) != "/o/"+words[1] || r.size != int64(size)) {
			t.Errorf("%q: got verdict %d, %+v", line, v, r)
		}
	})
}

// FuzzPopularity: what is taken for a distribution makes a trace of as many
// objects as were asked for.
func FuzzPopularity(f *testing.F) {
	f.Add("1\n1.0 0.5\n2 0.5\n", uint64(1))
	f.Add("3\n1e300 1e-300\n", uint64(2))
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		p := &popularity{objects: 20, arrivals: arriveInBursts, maxCount: 50, maxSize: 1000, seed: seed}
		if p.read(bufio.NewScanner(strings.NewReader(text))) != nil {
			return
		}
		b := newBuilder(false)
		if err := p.feed(t.Context(), b, newMeter(nil, Options{})); err != nil {
			t.Fatal(err)
		}
		tr, err := b.finish()
		if err != nil {
			t.Fatal(err)
		}
		if facts := tr.Facts(); facts.Objects != 20 || facts.Requests != p.total() || facts.UniqueBytes < 0 || facts.UniqueBytes > 20*1000 {
			t.Errorf("%q: got %+v", text, facts)
		}
	})
}
