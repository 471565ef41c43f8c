package field

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLinesAreTheFieldsTheyWereMadeOf(t *testing.T) {
	f := func(want List) {
		t.Helper()
		l := Lines(AppendLines(nil, want))
		if int64(len(l)) != want.Size() {
			t.Errorf("%q: got %d bytes, want %d", l, len(l), want.Size())
		}
		if got := l.AppendTo(nil); !cmp.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", l, got, want)
		}
		before, last := l.Last()
		if n := len(want) - 1; n >= 0 && (last != want[n] || string(before) != string(AppendLines(nil, want[:n]))) {
			t.Errorf("%q: got %q before %q", l, before, last)
		}
	}
	f(nil)
	f(List{{"Date", "Mon, 02 Jan 2006 15:04:05 GMT"}})
	f(List{{"A", ""}, {"A", ""}})
	f(List{{"Location", "http://a:80/: "}, {"", "nameless"}, {"Via", "1.1 a"}})
}

func TestLinesThatAreNoneGiveNothing(t *testing.T) {
	for _, l := range []Lines{"", "\n", "a", ":", "a:\n", "a:b", "a\nb: c\r\n"} {
		if f, _, ok := l.Next(); ok {
			t.Errorf("%q: got %q", l, f)
		}
		if _, f := l.Last(); l == "" && f != (Field{}) {
			t.Errorf("%q: got %q last", l, f)
		}
	}
}
