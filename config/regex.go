package config

import (
	"regexp"
	"strings"
)

// wantNoRegex is what is wanted where somebody may write a regular expression, by setting.
var wantNoRegex = noRegexSettings()

const wantNamePattern = "a name, or its beginning with a * behind it, such as utm_*"

func noRegexSettings() map[string]string {
	const (
		host      = "a host: example.com, *.example.com for its subdomains, or * for all"
		beginning = "the beginning of a path, such as /api"
	)
	out := map[string]string{
		"routes[].match.hosts": host, "metrics.hosts": host,
		"routes[].match.path":           "a whole path, or a list of them; path_prefix and path_suffix are for beginnings and endings",
		"routes[].match.path_prefix":    beginning + ", or a list of them",
		"routes[].match.path_suffix":    "the ending of a path, such as .jpg, or a list of them",
		"routes[].rewrite.strip_prefix": beginning, "routes[].rewrite.add_prefix": beginning,
	}
	for _, at := range []string{"", "routes[]."} {
		for _, setting := range []string{
			"cache.strip_cookies", "cache.keep_cookies", "cache.bypass.cookies", "cache.key.cookies", "cache.key.ignore_query", "cache.key.only_query",
			"headers.request.remove", "headers.request.only", "headers.response.remove",
		} {
			out[at+setting] = wantNamePattern
		}
	}
	return out
}

const matchPath = "routes[].match.path" // and what begins so

// regexSign matches what texts of these settings do not have, and regular expressions and the locations of nginx do. In hosts and
// paths, v1.* is more likely a pattern with a star; a name may have a |, and a URL has none.
var regexSign = regexp.MustCompile(anyRegexSign + `|(?:^|[/)\]])\.\*`)

const anyRegexSign = `^[~^]|^= |\\|\.\+(?:$|[/)$])|\[(?:0-9|a-z|A-Z|\^)|\(\?|\([^()]*\|[^()]*\)|[^$]\$$`

// noRegex returns the error for a value at path that is a regular expression, "" if it is none, or if none is to be
// expected there. text is the value as it is in the file.
func noRegex(path, text string) string {
	if !strings.ContainsAny(text, `~^=\*+[(|$`) { // most texts are plain
		return ""
	}
	setting := strings.TrimSuffix(pathPattern(path), "[]")
	want := wantNoRegex[setting]
	if want == "" || !isRegex(setting, want, text) {
		return ""
	}
	if same := samePaths(setting, text); same != "" {
		want = same
	}
	if strings.HasPrefix(text, "= ") || strings.HasPrefix(text, "^~") {
		return "must be no location of nginx, but " + want
	}
	return "must be no regular expression, but " + want
}

// isRegex reports whether text is a regular expression where the setting wants what want says.
func isRegex(setting, want, text string) bool {
	return regexSign.MatchString(text) ||
		strings.HasPrefix(setting, matchPath) && strings.Contains(text, "|") ||
		want == wantNamePattern && strings.Contains(text, ".*")
}

// samePaths returns the condition to write in place of text, "" if there is none or the setting is not about paths.
func samePaths(setting, text string) string {
	if !strings.HasPrefix(setting, matchPath) {
		return ""
	}
	same := plainMatch(strings.TrimPrefix(setting, "routes[].match."), text)
	if same != "" && strings.HasPrefix(text, "~*") {
		same += " (case counts)"
	}
	return same
}

// plainMatch returns the condition on paths for a regular expression or a location of nginx at key, or "" if there is none. A beginning
// is one of whole segments then, as in all of path_prefix.
func plainMatch(key, text string) string {
	if path, ok := strings.CutPrefix(text, "= "); ok {
		return condition("path", "", strings.TrimSpace(path))
	}
	if path, ok := strings.CutPrefix(text, "^~"); ok {
		return condition("path_prefix", "", strings.TrimSpace(path))
	}
	text = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(text, "~"), "*"))
	text, begins := strings.CutPrefix(text, "^")
	text, ends := strings.CutSuffix(text, "$")
	text, open := strings.CutSuffix(text, ".*")
	if !begins {
		text = strings.TrimPrefix(text, ".*")
	}
	lead := ""
	switch {
	case begins && ends && !open:
		key = "path"
	case begins:
		key = "path_prefix"
	case ends && !open:
		key = "path_suffix"
	case strings.HasPrefix(text, "(") && key == "path_suffix": // (jpg|png), endings of names
		lead = "."
	}
	return condition(key, lead, text)
}

var (
	// oneChoice matches a text with at most one group of alternatives in it.
	oneChoice = regexp.MustCompile(`^([^()|]*)(?:\((?:\?:)?([^()]*)\))?([^()|]*)$`)
	// escaped matches characters that stand for themselves.
	escaped = regexp.MustCompile(`\\([./_-])`)
)

// condition returns the condition of this name with the alternatives of a regular expression, each behind lead, or "" if more
// than alternatives are in it.
func condition(key, lead, regex string) string {
	if strings.Contains(regex, "|") && !strings.Contains(regex, "(") {
		regex = "(" + regex + ")"
	}
	parts := oneChoice.FindStringSubmatch(regex)
	if parts == nil {
		return ""
	}
	var all []string
	for choice := range strings.SplitSeq(parts[2], "|") {
		text := parts[1] + choice + parts[3]
		if text == "" || strings.ContainsAny(escaped.ReplaceAllString(text, ""), `\[]{}?*+^$`) {
			return ""
		}
		text = lead + escaped.ReplaceAllString(text, "$1")
		if strings.ContainsAny(text, " ,:#\"'") {
			text = quoted(text)
		}
		all = append(all, text)
	}
	if len(all) == 1 {
		return key + ": " + all[0]
	}
	return key + ": [" + strings.Join(all, ", ") + "]"
}
