package proxy

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// checkCookies holds what origins read in the cookies of two requests of one key to the
// law: where a route goes by cookies, all readers find the same of those that it names in
// both, and none that has a request pass the cache by.
func (c *parityCase) checkCookies(t *testing.T, a, b []string) {
	t.Helper()
	readsAll := slices.Contains(c.vary, "Cookie")
	for reader, read := range cookieReaders {
		inA, inB := read(a), read(b)
		for _, name := range []string{"lang", "s", "the_lang"} {
			keyed := readsAll || c.key.Reads("Cookie") && c.keysCookie(name)
			if keyed && !slices.Equal(inA[name], inB[name]) {
				t.Errorf("%s\none key, and by %s the cookie %s is %q and %q", c, reader, name, inA[name], inB[name])
			}
		}
		for _, in := range []map[string][]string{inA, inB} {
			for name := range in {
				if c.route.Bypass.Cookies.Match([]byte(name)) {
					t.Errorf("%s\nby %s there is the cookie %s, and the request did not pass by", c, reader, name)
				}
			}
		}
	}
}

// keysCookie reports whether the route keys the cookie: with it, and without, the key
// differs.
func (c *parityCase) keysCookie(name string) bool {
	key := func(cookie string) string {
		return string(c.key.AppendSelectors(nil, func(field string) [][]byte {
			if field == "Cookie" {
				return [][]byte{[]byte(cookie)}
			}
			return nil
		}))
	}
	return key(name+"=1") != key(name+"=2")
}

// cookieReaders find values by name in lines of Cookie as servers of some kind do.
var cookieReaders = map[string]func(lines []string) map[string][]string{
	"net/http":           readGo,
	"PHP":                readPHP,
	"Python's cookies":   readPython,
	"Rack":               readRack,
	"a naive reader":     func(lines []string) map[string][]string { return readNaive(lines, false) },
	"one without case":   func(lines []string) map[string][]string { return readNaive(lines, true) },
	"one of commas, too": func(lines []string) map[string][]string { return readSplit(strings.Join(lines, ";"), commaPattern) },
}

func readGo(lines []string) map[string][]string {
	found := map[string][]string{}
	for _, cookie := range (&http.Request{Header: http.Header{"Cookie": lines}}).Cookies() {
		found[cookie.Name] = append(found[cookie.Name], cookie.Value)
	}
	return found
}

// readPHP is php_default_treat_data: names are decoded as PHP did for long, an array's
// element counts as the array, and the first of a name wins.
func readPHP(lines []string) map[string][]string {
	found := map[string][]string{}
	for piece := range strings.SplitSeq(strings.Join(lines, ", "), ";") {
		name, value, _ := strings.Cut(strings.TrimLeft(piece, " \t\r\n\v\f"), "=")
		if decoded, err := url.QueryUnescape(name); err == nil {
			name = decoded
		}
		name, _, _ = strings.Cut(name, "[")
		name = strings.NewReplacer(".", "_", " ", "_").Replace(name)
		if _, taken := found[name]; !taken && name != "" {
			found[name] = []string{value}
		}
	}
	return found
}

// cookiePattern is that of Python's http.cookies, but for dates.
var cookiePattern = regexp.MustCompile("^\\s*([\\w!#%&'~`><@,:/$*+\\-.^|)(?}{=]+?)\\s*(?:=\\s*(\"(?:[^\\\\\"]|\\\\.)*\"|[\\w!#%&'~`><@,:/$*+\\-.^|)(?}{=\\[\\]]*))?\\s*(?:\\s+|;|$)")

// reservedPattern is of the names that are no cookies to Python.
var reservedPattern = regexp.MustCompile(`(?i)^(expires|path|comment|domain|max-age|secure|httponly|version|samesite|partitioned)$`)

// readPython gives up, and forgets all, where the pattern does not hold.
func readPython(lines []string) map[string][]string {
	found, seen := map[string][]string{}, false
	for rest := strings.Join(lines, "; "); rest != ""; {
		m := cookiePattern.FindStringSubmatchIndex(rest)
		if m == nil {
			return nil
		}
		name, value := rest[m[2]:m[3]], ""
		if m[4] >= 0 {
			value = strings.Trim(rest[m[4]:m[5]], `"`)
		}
		switch {
		case strings.HasPrefix(name, "$") && !seen:
		case reservedPattern.MatchString(name):
			if !seen {
				return nil
			}
		case m[4] < 0:
			return nil
		default:
			found[name], seen = []string{value}, true
		}
		rest = rest[m[1]:]
	}
	return found
}

var rackPattern = regexp.MustCompile(`[;,] *`)

func readRack(lines []string) map[string][]string {
	found := map[string][]string{}
	for _, piece := range rackPattern.Split(strings.Join(lines, "; "), -1) {
		name, value, _ := strings.Cut(piece, "=")
		if decoded, err := url.QueryUnescape(name); err == nil {
			name = decoded
		}
		if _, taken := found[name]; !taken {
			found[name] = []string{value}
		}
	}
	return found
}

func readNaive(lines []string, anyCase bool) map[string][]string {
	found := map[string][]string{}
	for _, line := range lines {
		for piece := range strings.SplitSeq(line, ";") {
			name, value, _ := strings.Cut(strings.TrimSpace(piece), "=")
			if name = strings.TrimSpace(name); anyCase {
				name = strings.ToLower(name)
			}
			found[name] = []string{value} // the last wins
		}
	}
	return found
}

var commaPattern = regexp.MustCompile(`[;,]`)

func readSplit(line string, at *regexp.Regexp) map[string][]string {
	found := map[string][]string{}
	for _, piece := range at.Split(line, -1) {
		name, value, _ := strings.Cut(strings.Trim(piece, " \t"), "=")
		found[name] = append(found[name], value)
	}
	return found
}
