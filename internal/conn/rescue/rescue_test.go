package rescue

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

func TestPanicBecomesAnErrorAndIsCounted(t *testing.T) {
	var log bytes.Buffer
	c := NewCounter(slog.New(slog.NewTextHandler(&log, nil)))
	f := func() (err error) {
		defer c.Into(&err)
		panic("rotten")
	}
	err := f()
	var e *Error
	if !errors.As(err, &e) || err.Error() != "panic: rotten" || !strings.Contains(string(e.Stack), "rescue_test.go") {
		t.Errorf("got %v, want the panic with its stack", err)
	}
	c.Quietly(func() { panic("again") })
	c.Quietly(func() {})
	if c.Count() != 2 || strings.Count(log.String(), "request panicked") != 2 {
		t.Errorf("got %d counted and %q, want two", c.Count(), log.String())
	}
	var none *Counter
	none.Quietly(func() { panic("unheard") })
	if none.Count() != 0 {
		t.Error("nil counts")
	}
}
