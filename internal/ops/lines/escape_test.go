package lines

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"unicode"
)

func TestUnsafeCharacters(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		want := unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
		if got := Unsafe(r); got != want {
			t.Errorf("%U: got %v, want %v", r, got, want)
		}
		if want && r > 0xffff {
			t.Errorf("%U does not fit into an escape", r)
		}
	}
}

// slog's encoder wrote DEL, C1 and the controls of direction as they came from clients and origins.
func TestALineOfSlogHadCharactersThatTerminalsObey(t *testing.T) {
	f := func(text string) {
		t.Helper()
		var out bytes.Buffer
		slog.New(slog.NewJSONHandler(EscapeJSON(&out), nil)).Error("a line", "key "+text, text)
		line := strings.TrimSuffix(out.String(), "\n")
		if i := strings.IndexFunc(line, Unsafe); i >= 0 {
			t.Errorf("%q: %q has %q", text, line, line[i:])
		}
		var read map[string]string
		if err := json.Unmarshal([]byte(line), &read); err != nil || read["key "+text] != text {
			t.Errorf("%q: read back as %q, %v", text, read, err)
		}
	}
	f("")
	f("plain")
	f("\x00\x1b[2J\r\n\t\x7f")
	f("\u0080\u0085\u009b31m\u009f\u00a0")
	f("\u061c\u200e\u200f\u202a\u202e\u2066\u2069")
	f("\u2028\u2029")
	f("grüß 世 \U0001f600 \ufffd\u200d")
	f("\u009b")
	f(`\u009b "quoted" \`)
	f(strings.Repeat("a\u202e", 5000))
}

func TestEscapeJSONPassesErrorsOn(t *testing.T) {
	want := errors.New("full")
	if n, err := EscapeJSON(failing{want}).Write([]byte("x\u009b")); n != 0 || !errors.Is(err, want) {
		t.Errorf("got %d, %v", n, err)
	}
	if n, err := EscapeJSON(&bytes.Buffer{}).Write([]byte("x\u009b")); n != 3 || err != nil {
		t.Errorf("got %d, %v, want 3", n, err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
