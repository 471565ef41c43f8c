package config

import "testing"

func TestSettingsWithoutRegularExpressionsExist(t *testing.T) {
	settings := documented()
	for setting := range wantNoRegex {
		if !settings[setting] {
			t.Errorf("%s is no setting", setting)
		}
	}
}

// What is proposed must be right: a parser of a file with it must take it.
func TestConditionsInPlaceOfRegularExpressions(t *testing.T) {
	f := func(key, regex, want string) {
		t.Helper()
		got := plainMatch(key, regex)
		if got != want {
			t.Errorf("%s: %s: got %q, want %q", key, regex, got, want)
		}
		if got == "" {
			return
		}
		text := "origins: {app: {servers: [\"http://h\"]}}\nroutes: [{name: a, origin: app, match: {" + got + "}}]\n"
		if _, err := parse(caseFile, []byte(text), Flags{}, environment); err != nil {
			t.Errorf("%s: %v", regex, err)
		}
	}
	f("path", `~ \.jpg$`, "path_suffix: .jpg")
	f("path", `~* \.(css|js|woff2)$`, "path_suffix: [.css, .js, .woff2]")
	f("path", `^/a$`, "path: /a")
	f("path", `^/a/.*$`, "path_prefix: /a/")
	f("path_prefix", `^/(api|app)/`, "path_prefix: [/api/, /app/]")
	f("path_prefix", `/(api|app)/`, "path_prefix: [/api/, /app/]")
	f("path_suffix", `(jpg|png)`, "path_suffix: [.jpg, .png]")
	f("path_suffix", `.*\.(jpg|png)`, "path_suffix: [.jpg, .png]")
	f("path_suffix", `.jpg|.png`, "path_suffix: [.jpg, .png]")
	f("path", `^/a b, c$`, `path: "/a b, c"`)
	f("path", `= /x`, "path: /x")
	f("path", `^~ /x/`, "path_prefix: /x/")
	f("path", `^/a(b)?$`, "")
	f("path", `^/[0-9]+$`, "")
	f("path", `^/a.+`, "")
	f("path", `^/(a|(b|c))`, "")
	f("path", `^/a\d`, "")
	f("path", `^$`, "")
}
