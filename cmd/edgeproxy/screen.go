package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// clearScreen moves the cursor of a terminal to the top left, and clears what is below it.
const clearScreen = "\x1b[H\x1b[J"

// onScreen returns text as it is written to w. A command that watches clears a terminal before each text but the first, and the
// text is cut to what the terminal shows. Elsewhere an empty line separates one text from the next.
func onScreen(w io.Writer, text string, watch, another bool) string {
	f := terminalOf(w)
	switch {
	case !watch:
		return text
	case f == nil && another:
		return "\n" + text
	case f == nil:
		return text
	}
	return clearScreen + fitted(text, dimensionsOf(f))
}

// terminalOf returns the terminal that w writes to, nil if it is none.
func terminalOf(w io.Writer) *os.File {
	if o, ok := w.(*stickyErrorWriter); ok {
		w = o.Writer
	}
	f, ok := w.(*os.File)
	if !ok {
		return nil
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	return f
}

// dimensions are those of a terminal, in characters; 0 is not known.
type dimensions struct{ rows, columns int }

// fitted cuts text, whole lines, to what a terminal shows at once. Its last line then says how many more there are.
func fitted(text string, s dimensions) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if s.rows > 1 && len(lines) >= s.rows { // the cursor is on the line behind the last one
		kept := s.rows - 2
		lines = append(lines[:kept], fmt.Sprintf("(%d more lines: enlarge the terminal, or leave --watch out)", len(lines)-kept))
	}
	for i, line := range lines {
		if s.columns > 0 && utf8.RuneCountInString(line) > s.columns {
			lines[i] = string([]rune(line)[:s.columns])
		}
	}
	return strings.Join(lines, "\n") + "\n"
}
