package purgedialect

import (
	"fmt"
	"strings"
)

// This file says what a pattern selects: URLs, hosts or tags.

const (
	wantURL  = "must be a path and .* behind it, or a path between ^ and $; https?:// and the host of the request may stand before it"
	wantHost = "must be .*, or the host of the request, as a purge reaches no other"
	wantTags = "must be tags, with | or commas between them"
)

// schemes are what patterns of whole URLs begin with. A purge is for http and https alike.
var schemes = [...]string{"https?://", "(https?)://", "(http|https)://", "(https|http)://", "https://", "http://"}

// url is what a pattern for URLs selects.
type url struct {
	text   string // a path with its query, or the beginning of one
	prefix bool
}

// urls returns what a pattern for URLs selects. A pattern without ^ begins at the beginning, and one without $ ends anywhere.
func (r *Request) urls(part, pattern string) (out []url, err error) {
	rest, scheme := strings.TrimPrefix(pattern, "^"), false
	for _, s := range schemes {
		if after, found := cutEscaped(rest, s); found {
			rest, scheme = after, true
			break
		}
	}
	all, err := alternatives(rest, false)
	if err != nil {
		return nil, &Error{part, pattern, err.Error() + ": " + wantURL}
	}
	for _, s := range all {
		u, err := r.url(s, scheme)
		if err != nil {
			return nil, &Error{part, pattern, err.Error() + ": " + wantURL}
		}
		out = append(out, u)
	}
	return out, nil
}

// cutEscaped cuts a prefix whose slashes may be escaped.
func cutEscaped(text, prefix string) (after string, found bool) {
	if after, found = strings.CutPrefix(text, prefix); found {
		return after, true
	}
	return strings.CutPrefix(text, strings.ReplaceAll(prefix, "/", `\/`))
}

// url is urls for one alternative. hosted says that its text begins with a host.
func (r *Request) url(s sequence, hosted bool) (url, error) {
	b, err := s.bounds()
	if err != nil {
		return url{}, err
	}
	u := url{text: b.text, prefix: b.more || !b.closes}
	switch host, path := cutHost(b.text); {
	case hosted && !r.SameHost(host):
		return u, fmt.Errorf("%.60q is not the host of the request", host)
	case hosted, path != "" && r.SameHost(host): // also without a scheme
		u.text = path
	}
	switch {
	case u.text == "" && (u.prefix || hosted):
		u.text = "/"
	case u.text == "" || u.text[0] != '/':
		return u, fmt.Errorf("%.60q does not begin with /", u.text)
	}
	return u, nil
}

// cutHost cuts a host from the path behind it.
func cutHost(text string) (host, path string) {
	if i := strings.IndexByte(text, '/'); i >= 0 {
		return text[:i], text[i:]
	}
	return text, ""
}

// checkHosts refuses a pattern for hosts that selects another one than that of the request.
func (r *Request) checkHosts(part, pattern string) error {
	all, err := alternatives(pattern, false)
	if err != nil {
		return &Error{part, pattern, err.Error() + ": " + wantHost}
	}
	for _, s := range all {
		b, err := s.bounds()
		switch {
		case err != nil:
			return &Error{part, pattern, err.Error() + ": " + wantHost}
		case b.text == "" && !b.more && b.opens && b.closes:
			return &Error{part, pattern, wantHost}
		case b.text != "" && (b.more || !r.SameHost(b.text)):
			return &Error{part, pattern, wantHost}
		}
	}
	return nil
}

// isAnything reports whether a pattern selects everything.
func isAnything(pattern string) bool {
	all, err := alternatives(pattern, false)
	if err != nil || len(all) != 1 {
		return false
	}
	b, err := all[0].bounds()
	return err == nil && b.text == "" && (b.more || !b.opens || !b.closes)
}

// olderTail is what FOSHttpCache 1 had behind a choice of tags.
const olderTail = "(,.+)?$"

// tagsOf returns the tags that a pattern selects, as whole tags. Separators around them are left out. all says that it selects
// every tag.
func tagsOf(part, pattern string) (tags []string, all bool, err error) {
	sequences, err := alternatives(strings.ReplaceAll(pattern, olderTail, "$"), true)
	if err != nil {
		return nil, false, &Error{part, pattern, err.Error() + ": " + wantTags}
	}
	for _, s := range sequences {
		b, err := s.bounds()
		switch {
		case err != nil:
			return nil, false, &Error{part, pattern, err.Error() + ": " + wantTags}
		case b.text == "" && b.more:
			all = true
			continue
		case b.more:
			return nil, false, &Error{part, pattern, fmt.Sprintf(".* behind %.60q is not understood: ", b.text) + wantTags}
		}
		some := listed(b.text, ", \t")
		if len(some) == 0 {
			return nil, false, &Error{part, pattern, wantTags}
		}
		tags = append(tags, some...)
	}
	return tags, all, nil
}

// listed returns the tags of a list with these characters between them.
func listed(list, separators string) (tags []string) {
	for tag := range strings.FieldsFuncSeq(list, func(c rune) bool { return strings.ContainsRune(separators, c) }) {
		if tag = strings.Trim(tag, " \t"); tag != "" {
			tags = append(tags, tag)
		}
	}
	return tags
}
