package tracecontext

import "testing"

func TestContextIsReadAndWritten(t *testing.T) {
	const trace, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	f := func(value, want string) {
		t.Helper()
		c, ok := Parse([]byte(value))
		if got := string(c.Append(nil)); !ok || got != want {
			t.Errorf("%s: got %s, %v, want %s", value, got, ok, want)
		}
	}
	f("00-"+trace+"-"+span+"-01", "00-"+trace+"-"+span+"-01")
	f("00-"+trace+"-"+span+"-00", "00-"+trace+"-"+span+"-00")
	f("00-"+trace+"-"+span+"-ff", "00-"+trace+"-"+span+"-01") // bits without a meaning yet
	f("00-"+trace+"-"+span+"-fe", "00-"+trace+"-"+span+"-00")
	f("cc-"+trace+"-"+span+"-03-more", "00-"+trace+"-"+span+"-01")
	for _, bad := range []string{"", "00-" + trace + "-0000000000000000-01", "00-" + trace + "-" + span + "-0"} {
		if c, ok := Parse([]byte(bad)); ok || c != (Context{}) {
			t.Errorf("%q: got %v, want none", bad, c)
		}
	}
}
