package edge

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"edgeproxy/internal/ops/top"
)

// What a client sends is in no document as it is: it would reach terminals.
func TestControlCharactersAreEscaped(t *testing.T) {
	evil := "/\x1b[2J\u009b31m\x7f\u202e\r\n\t\xff%1b"
	const want = `/\x1b[2J\xc2\x9b31m\x7f\xe2\x80\xae\x0d\x0a\x09\xff%1b`
	if got := Escape(evil); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	table := top.New(top.Options{Entries: 4, Window: time.Minute}, time.Now())
	table.Count(&top.Request{Scheme: "http", Host: []byte(evil), Target: []byte(evil)}, time.Now())
	text, err := json.Marshal(topListOf(table, top.URLs, top.Requests, 1, time.Now()))
	if err != nil || !strings.Contains(string(text), `\\x1b[2J\\xc2\\x9b31m`) {
		t.Errorf("got %s, %v", text, err)
	}
}
