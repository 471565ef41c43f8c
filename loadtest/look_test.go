package main

import (
	"bytes"
	"testing"

	"edgeproxy/internal/test/testkit"
)

func TestBrowserShowsAllOfTheReport(t *testing.T) {
	p := reported(t).page()
	var document bytes.Buffer
	if err := p.Write(&document); err != nil {
		t.Fatal(err)
	}
	testkit.ReadablePage(t, document.String(), len(charts(p)))
}
