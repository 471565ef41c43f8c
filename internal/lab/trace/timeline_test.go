package trace

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	hour = 3600
	day  = 24 * hour
	// aMoment is when the logs of these tests begin, in Unix seconds.
	aMoment = 1_700_000_000
)

// spans are numbers of lines, one a second from a time after aMoment on.
type span struct{ lines, from int64 }

// seconds returns the times of the spans, in seconds after aMoment.
func seconds(spans ...span) (out []int64) {
	for _, s := range spans {
		for i := range s.lines {
			out = append(out, s.from+i)
		}
	}
	return out
}

// timedLog is a CSV of lines with these times.
func timedLog(times []int64) string {
	var b strings.Builder
	b.WriteString("url,bytes,time\n")
	for _, s := range times {
		b.WriteString("a,1," + strconv.FormatInt(aMoment+s, 10) + "\n")
	}
	return b.String()
}

// offsets returns the times of the requests, in seconds after aMoment.
func offsets(t *testing.T, tr *Trace) (out []int64) {
	t.Helper()
	for _, a := range accesses(t, tr) {
		out = append(out, a.At/1e9-aMoment)
	}
	return out
}

// One line of another century must neither hold the time still for the rest of
// the log nor be a reason to refuse it.
func TestTimesThatLeapAreBelievedOnlyWhenOthersFollow(t *testing.T) {
	f := func(name string, wantOdd int64, times, want []int64) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			tr := read(t, timedLog(times), Options{})
			if got := tr.Notes().OddTimes; got != wantOdd || !tr.HasTimes() {
				t.Errorf("got %d odd ones, HasTimes %v, want %d", got, tr.HasTimes(), wantOdd)
			}
			if at := offsets(t, tr); !slices.Equal(at, want) {
				t.Errorf("got %v, want %v", at, want)
			}
		})
	}
	// still are times that stay as they are for so many lines.
	still := func(n int, at int64) []int64 { return slices.Repeat([]int64{at}, n) }
	years := int64(40 * 365 * day)
	f("one ahead", 1, slices.Concat(seconds(span{100, 0}, span{1, years}, span{100, 100})),
		slices.Concat(seconds(span{100, 0}), still(1, 99), seconds(span{100, 100})))
	f("one ahead at the end", 1, seconds(span{150, 0}, span{1, years}), slices.Concat(seconds(span{150, 0}), still(1, 149)))
	f("the first", 1, seconds(span{1, years}, span{150, 0}),
		slices.Concat(still(confirmations, 0), seconds(span{150 - confirmations + 1, confirmations - 1})))
	f("one behind", 1, seconds(span{100, years}, span{1, 0}, span{100, years + 100}),
		slices.Concat(seconds(span{100, years}), still(1, years+99), seconds(span{100, years + 100})))
	f("some ahead that do not agree", 3, seconds(span{200, 0}, span{1, 3 * years}, span{1, years}, span{1, 2 * years}, span{200, 200}),
		slices.Concat(seconds(span{200, 0}), still(3, 199), seconds(span{200, 200})))
	f("a server that let many old clients go", confirmations-1,
		seconds(span{2000, 5 * day}, span{confirmations - 1, 0}, span{2000, 5*day + 2000}),
		slices.Concat(seconds(span{2000, 5 * day}), still(confirmations-1, 5*day+1999), seconds(span{2000, 5*day + 2000})))
	f("a pause of forty days", 0, seconds(span{100, 0}, span{100, 40 * day}),
		slices.Concat(seconds(span{100, 0}), still(confirmations-1, 99), seconds(span{100 - confirmations + 1, 40*day + confirmations - 1})))
	f("within the bounds at once", 0, seconds(span{1, 0}, span{1, 30 * day}, span{1, 30*day - hour}), []int64{0, 30 * day, 30 * day})
}

// Too many odd times are as good as none.
func TestLogOfOddTimesHasNone(t *testing.T) {
	times := seconds(span{100, 0}, span{1, 40 * 365 * day}, span{1, 100}, span{1, 80 * 365 * day}, span{1, 101})
	if tr := read(t, timedLog(times), Options{}); tr.HasTimes() || tr.Notes().OddTimes != 2 {
		t.Errorf("got %+v, HasTimes %v, want 2 of 104 odd and no times", tr.Notes(), tr.HasTimes())
	}
}

func TestLogsInTheWrongOrderAreRefused(t *testing.T) {
	log := func(name string, spans ...span) string { return write(t, name, []byte(timedLog(seconds(spans...)))) }
	f := func(name string, want error, paths ...string) {
		t.Helper()
		tr, err := Read(t.Context(), paths, Options{})
		if err == nil {
			closeTrace(t, tr)
		}
		if !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", name, err, want)
		}
	}
	f("an hour of overlap", nil, log("log.1", span{hour + 100, 0}), log("log", span{9, 99}, span{9, hour}))
	f("newest first", ErrOrder, log("log", span{50, day}), log("log.1", span{50, 0}))
	f("newest first, few lines", ErrOrder, log("log", span{2, day}), log("log.1", span{2, 0}))
	f("newest first, one line each", ErrOrder, log("log", span{1, day}), log("log.1", span{1, 0}))
	f("newest first, in one stream", ErrOrder, log("cat", span{500, day}, span{500, 0}))
	f("a log that begins with what began long ago", nil, log("log.1", span{50, day}), log("log", span{1, 0}, span{50, day + 50}))
	f("a pause of forty days between them", nil, log("log.1", span{2, 0}), log("log", span{2, 40 * day}))

	_, err := try(t, timedLog(seconds(span{500, day}, span{500, 0})), Options{})
	if err == nil || !strings.Contains(err.Error(), "after 519 requests: ") || !strings.Contains(err.Error(), "ls -tr") {
		t.Errorf("got %v, want where it goes back, and what to do", err)
	}
}

// The pause between two logs is believed, however short the second is.
func TestShortLogAfterAPauseHasItsTimes(t *testing.T) {
	first, second := write(t, "a", []byte(timedLog(seconds(span{2, 0})))), write(t, "b", []byte(timedLog(seconds(span{2, 40 * day}))))
	tr, err := Read(t.Context(), []string{first, second}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer closeTrace(t, tr)
	if got := tr.Notes().OddTimes; got != 0 || !tr.HasTimes() {
		t.Errorf("got %d odd ones, HasTimes %v, want none", got, tr.HasTimes())
	}
}

func TestSizesAreTrueAndEmptyObjectsAreChargedAByte(t *testing.T) {
	tr := read(t, "1 a 0\n2 b 10\n3 a 0\n4 c 0\n5 c 5\n", Options{})
	want := Facts{Requests: 5, Objects: 3, RequestBytes: 20, UniqueBytes: 15, OneHitObjects: 1, EmptyObjects: 1}
	if got := tr.Facts(); got != want || got.ChargedBytes() != 16 {
		t.Errorf("got %+v and %d charged, want %+v and 16", got, got.ChargedBytes(), want)
	}
}

func TestMissingFolderForTheRequestsSaysWhichItIs(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()+"/none")
	b := newBuilder(false)
	b.trace.requests = newSpool(1)
	sources, err := (&Options{}).sources([]string{"zipf:"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = collect(t.Context(), sources, b, newMeter(nil, Options{}))
	if err == nil || !strings.Contains(err.Error(), "TMPDIR") {
		t.Fatalf("got %v, want an error that says where the folder comes from", err)
	}
	if _, ok := errors.AsType[*SourceError](err); ok {
		t.Errorf("got %v as a SourceError, want none: the log is there", err)
	}
}
