package testkit

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// Tab is one page of a Browser. What fails ends the test. Only Console and Requests are safe for concurrent use.
type Tab struct {
	tb      testing.TB
	browser *Browser
	session string

	// Both are of browser.mu.
	console  []string
	requests []string
}

// note keeps what an event says. The browser's mutex is held.
func (t *Tab) note(m devtoolsMessage) {
	var p struct {
		Type    string
		Args    []struct{ Value, Description json.RawMessage }
		Request struct{ URL string }
		Entry   struct{ Source, Level, Text, URL string }
		Details struct {
			Text      string
			Exception struct{ Description string }
		} `json:"exceptionDetails"`
	}
	if json.Unmarshal(m.Params, &p) != nil {
		return
	}
	switch m.Method {
	case "Network.requestWillBeSent":
		t.requests = append(t.requests, p.Request.URL)
	case "Runtime.consoleAPICalled":
		t.console = append(t.console, fmt.Sprintf("console %s: %s", p.Type, m.Params))
	case "Runtime.exceptionThrown":
		t.console = append(t.console, "exception: "+p.Details.Text+" "+p.Details.Exception.Description)
	case "Log.entryAdded":
		if p.Entry.Level == "info" || p.Entry.Level == "verbose" {
			return // advice
		}
		t.console = append(t.console, strings.TrimSpace(fmt.Sprintf("%s %s: %s %s", p.Entry.Source, p.Entry.Level, p.Entry.Text, p.Entry.URL)))
	}
}

// Console returns what the page has said on its console, and what the browser has warned of there: faults, violations of its policy,
// and requests that failed ("network error: …").
func (t *Tab) Console() []string {
	t.browser.mu.Lock()
	defer t.browser.mu.Unlock()
	return append([]string(nil), t.console...)
}

// Requests returns the URL of each request that the page has made.
func (t *Tab) Requests() []string {
	t.browser.mu.Lock()
	defer t.browser.mu.Unlock()
	return append([]string(nil), t.requests...)
}

func (t *Tab) must(err error) {
	t.tb.Helper()
	if err != nil {
		t.tb.Fatal(err)
	}
}

// Call gives a command of the DevTools protocol. Result may be nil.
func (t *Tab) Call(method string, params, result any) {
	t.tb.Helper()
	t.must(t.browser.call(t.session, method, params, result))
}

// Go opens a page in the tab. It returns before the page has loaded.
func (t *Tab) Go(url string) {
	t.tb.Helper()
	var went struct{ ErrorText string }
	t.Call("Page.navigate", map[string]any{"url": url}, &went)
	if went.ErrorText != "" {
		t.tb.Fatalf("%s: %s", url, went.ErrorText)
	}
}

// Width makes the window so many pixels wide.
func (t *Tab) Width(pixels int) {
	t.tb.Helper()
	t.Call("Emulation.setDeviceMetricsOverride", map[string]any{"width": pixels, "height": 900, "deviceScaleFactor": 1, "mobile": false}, nil)
}

// Dark says which colours the reader prefers.
func (t *Tab) Dark(dark bool) {
	t.tb.Helper()
	value := map[bool]string{false: "light", true: "dark"}[dark]
	t.Call("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]string{"name": "prefers-color-scheme", "value": value}}}, nil)
}

// Evaluate puts the value of a JavaScript expression, or what its promise comes to, into result, which may be nil.
func (t *Tab) Evaluate(expression string, result any) {
	t.tb.Helper()
	t.must(t.evaluate(expression, result))
}

func (t *Tab) evaluate(expression string, result any) error {
	var said struct {
		Result  struct{ Value json.RawMessage }
		Details *struct {
			Text      string
			Exception struct{ Description string }
		} `json:"exceptionDetails"`
	}
	params := map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}
	if err := t.browser.call(t.session, "Runtime.evaluate", params, &said); err != nil {
		return err
	}
	if said.Details != nil {
		return fmt.Errorf("%s: %s %s", expression, said.Details.Text, said.Details.Exception.Description)
	}
	if result == nil || len(said.Result.Value) == 0 {
		return nil
	}
	return json.Unmarshal(said.Result.Value, result)
}

// Until waits until a JavaScript expression is true. An expression that fails, such as on a page that has not loaded yet, is asked again.
func (t *Tab) Until(expression string) {
	t.tb.Helper()
	end := time.Now().Add(browserPatience)
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for {
		var is bool
		err := t.evaluate("Boolean("+expression+")", &is)
		if is {
			return
		}
		if time.Now().After(end) {
			t.tb.Fatalf("never came true: %s (%v)\nthe page says: %s\nits console: %q", expression, err, t.Text("body"), t.Console())
		}
		<-poll.C
	}
}

// Text returns what can be read in the first element that matches the selector.
func (t *Tab) Text(selector string) string {
	t.tb.Helper()
	var text string
	t.Evaluate("document.querySelector("+quoted(selector)+").innerText", &text)
	return text
}

// Click clicks the first element that matches the selector.
func (t *Tab) Click(selector string) {
	t.tb.Helper()
	t.Evaluate("document.querySelector("+quoted(selector)+").click()", nil)
}

// Type puts text into the first field that matches the selector, in the place of what is there, as a keyboard does.
func (t *Tab) Type(selector, text string) {
	t.tb.Helper()
	t.Evaluate("(() => { const e = document.querySelector("+quoted(selector)+"); e.focus(); e.select(); })()", nil)
	t.Call("Input.insertText", map[string]any{"text": text}, nil)
}

// Press presses a key where the focus is: Tab, Enter, Escape or Space.
func (t *Tab) Press(key string) {
	t.tb.Helper()
	k := map[string]struct {
		code int
		text string
	}{"Tab": {9, ""}, "Enter": {13, "\r"}, "Escape": {27, ""}, "Space": {32, " "}}[key]
	if k.code == 0 {
		t.tb.Fatalf("%s: want Tab, Enter, Escape or Space", key)
	}
	name := map[string]string{"Space": " "}[key]
	if name == "" {
		name = key
	}
	down := map[string]any{"type": "keyDown", "key": name, "code": key, "windowsVirtualKeyCode": k.code, "text": k.text}
	t.Call("Input.dispatchKeyEvent", down, nil)
	t.Call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": name, "code": key, "windowsVirtualKeyCode": k.code}, nil)
}

// Screenshot returns the top of the page in a window of this height, as a PNG.
func (t *Tab) Screenshot(width, height int) []byte {
	t.tb.Helper()
	var shot struct{ Data []byte }
	t.Call("Page.captureScreenshot", map[string]any{
		"format": "png", "captureBeyondViewport": true, "clip": map[string]any{"x": 0, "y": 0, "width": width, "height": height, "scale": 1},
	}, &shot)
	return shot.Data
}

// quoted is text as JavaScript writes it.
func quoted(text string) string {
	b, _ := json.Marshal(text) // a string can be encoded
	return string(b)
}
