package tracecontext

import (
	"strings"
	"testing"
)

// The first is the example of the recommendation, section 3.2.2.
func TestTraceIDOfWhatIsValidOnly(t *testing.T) {
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	const valid = "00-" + trace + "-00f067aa0ba902b7-01"
	f := func(value, want string) {
		t.Helper()
		if got := string(TraceID([]byte(value))); got != want {
			t.Errorf("%q: got %q, want %q", value, got, want)
		}
	}
	f(valid, trace)
	f(strings.Replace(valid, "-01", "-ff", 1), trace)
	f("cc"+valid[2:], trace)
	f("cc"+valid[2:]+"-what-the-future-brings", trace)
	f("", "")
	f(valid[:len(valid)-1], "")
	f(valid+"-more", "")
	f("cc"+valid[2:]+"more", "")
	f("ff"+valid[2:], "")
	f("0g"+valid[2:], "")
	f(strings.ToUpper(valid), "")
	f("00-"+strings.Repeat("0", 32)+valid[35:], "")
	f(valid[:36]+strings.Repeat("0", 16)+"-01", "")
	f(valid[:53]+"0x", "")
	for _, at := range []int{2, 35, 52} {
		f(valid[:at]+"_"+valid[at+1:], "")
	}
	for at := range valid {
		f(valid[:at]+"\n"+valid[at+1:], "")
	}
}

func TestTraceIDDoesNotAllocate(t *testing.T) {
	value := []byte("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	if got := testing.AllocsPerRun(100, func() { _ = TraceID(value) }); got != 0 {
		t.Errorf("got %v allocations, want 0", got)
	}
}
