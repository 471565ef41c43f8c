package purgedialect

import (
	"slices"
	"strings"

	"edgeproxy/internal/http/field"
)

// This file sorts the fields of a purge: by what it goes, what bounds it, and what is not understood.

// reading is how the value of a field is read.
type reading uint8

const (
	unknown     reading = iota
	tagWords            // tags with spaces between them
	tagList             // tags with spaces or commas between them
	softTagList         // the same, to become stale
	tagCommas           // tags with commas between them
	tagPattern          // a pattern for tags, or a list of them
	urlPattern          // BAN's pattern for URLs
	hostPattern
	typePattern // BAN's pattern for types
	banExpression
	purgeWay  // how the target is read
	softFlag  // all becomes stale
	clearFlag // all of the host
)

// hasTags reports whether a field has tags.
func (as reading) hasTags() bool { return tagWords <= as && as <= tagPattern }

// readings are those of the fields that programs send with purges. Names are canonical.
var readings = map[string]reading{
	"Xkey-Purge": tagList, "Xkey": tagList, // varnish-modules, Shopware
	"Surrogate-Key":  tagWords, // Fastly
	"Xkey-Softpurge": softTagList,
	"Cache-Tag":      tagCommas, "X-Amz-Meta-Cache-Tag": tagCommas, // Cloudflare, CloudFront
	"X-Cache-Tags":     tagPattern, // FOSHttpCache
	"Cache-Tags":       tagPattern, // Drupal
	"Purge-Cache-Tags": tagPattern, // Drupal
	"X-Magento-Tags":   tagPattern, "X-Magento-Tags-Pattern": tagPattern,
	"X-Cache-Tags-Pattern":  tagPattern, // Proxy Cache Purge for WordPress
	"Apiplatform-Ban-Regex": tagPattern,
	"X-Url":                 urlPattern, "X-Ban-Url": urlPattern, "X-Ban-Regex": urlPattern,
	"X-Host": hostPattern, "X-Ban-Host": hostPattern,
	"X-Content-Type": typePattern, "X-Ban-Content-Type": typePattern,
	"X-Ban-Expression":  banExpression,
	"X-Purge-Method":    purgeWay, // programs for WordPress send it
	"Fastly-Soft-Purge": softFlag,
	"Clear-Cache":       clearFlag, // FOSHttpCache for Symfony
	"X-Pool":            unknown,   // Magento, for what its origin has called a pool
	"X-Location-Id":     unknown,   // eZ Publish
	"Key":               unknown,   // eZ Platform 1
}

// telling are words in the name of a field that say that it is about what to purge.
var telling = []string{"purge", "purges", "ban", "bans", "tag", "tags", "xkey", "invalidate", "invalidates", "invalidation", "flush", "softpurge", "pattern", "regex"}

// proving are last words of the names of fields that prove who asks. purge.allow and purge.token_file say who may.
var proving = []string{"token", "key", "auth", "secret", "signature"}

// tracing is what the names of fields begin with that an agent in the program adds to all its requests. One of them is X-Datadog-Tags.
const tracing = "X-Datadog-"

// readingOf returns how a field is read, and whether it is about what to purge.
func readingOf(name string) (as reading, about bool) {
	if as, about = readings[name]; about || strings.HasPrefix(name, tracing) {
		return as, about
	}
	words := strings.FieldsFunc(strings.ToLower(name), func(c rune) bool { return c == '-' || c == '_' })
	if len(words) == 0 || slices.Contains(proving, words[len(words)-1]) {
		return unknown, false
	}
	return unknown, slices.ContainsFunc(words, func(w string) bool { return slices.Contains(telling, w) })
}

// way is how the target of a PURGE is read.
type way uint8

const (
	wayNone      way = iota
	wayExact         // the URL as it is
	wayPattern       // a pattern for URLs
	wayTags          // not at all: a field has the tags
	wayBanRegexp     // not at all: a field has a pattern
)

var ways = map[string]way{"default": wayExact, "exact": wayExact, "regex": wayPattern, "tags": wayTags, "ban-regex": wayBanRegexp}

// named is a field that may be given once.
type named struct{ name, value string }

// given is what the fields of a request say.
type given struct {
	tags, softTags   []string
	everyTag         bool
	tagField         string // the first field with tags
	url, types       named
	expression, soft named
	clear, wayField  named
	way              way
}

// given sorts the fields.
func (r *Request) given() (*given, error) {
	g := &given{}
	for _, f := range r.Fields {
		if err := r.note(g, f); err != nil {
			return nil, err
		}
	}
	g.tags, g.softTags = distinct(g.tags), distinct(g.softTags)
	return g, nil
}

// note notes one field.
func (r *Request) note(g *given, f field.Field) error {
	as, about := readingOf(f.Name)
	switch {
	case f.Name == "Cookie" && r.Method == methodBan:
		return &Error{f.Name, f.Value, "must be none: what is stored is not selected by it"}
	case !about:
		return nil
	case as.hasTags():
		return g.noteTags(as, f)
	case as == hostPattern:
		return r.checkHosts(f.Name, f.Value)
	case as == purgeWay:
		return g.noteWay(f)
	}
	if to := g.single(as); to != nil {
		return once(to, f)
	}
	return &Error{f.Name, f.Value, "this field is not understood"}
}

// single returns where a field of this reading is kept that may come once; nil: it is none.
func (g *given) single(as reading) *named {
	switch as { //nolint:exhaustive // the others are no such fields
	case urlPattern:
		return &g.url
	case typePattern:
		return &g.types
	case banExpression:
		return &g.expression
	case softFlag:
		return &g.soft
	case clearFlag:
		return &g.clear
	}
	return nil
}

// once notes a field that may not be given twice.
func once(to *named, f field.Field) error {
	if to.name != "" {
		return &Error{f.Name, f.Value, "must stand once, and nothing beside it that says the same"}
	}
	*to = named{f.Name, f.Value}
	return nil
}

func (g *given) noteTags(as reading, f field.Field) (err error) {
	if g.tagField == "" {
		g.tagField = f.Name
	}
	var tags []string
	every := false
	switch as {
	case tagCommas:
		tags = listed(f.Value, ",")
	case tagPattern:
		tags, every, err = tagsOf(f.Name, f.Value)
	case tagWords:
		tags = listed(f.Value, " \t")
	default:
		tags = listed(f.Value, ", \t")
	}
	switch {
	case err != nil:
		return err
	case len(tags) == 0 && !every:
		return &Error{f.Name, f.Value, wantTags}
	case as == softTagList:
		g.softTags = append(g.softTags, tags...)
	default:
		g.tags, g.everyTag = append(g.tags, tags...), g.everyTag || every
	}
	return nil
}

func (g *given) noteWay(f field.Field) error {
	if err := once(&g.wayField, f); err != nil {
		return err
	}
	known := false
	if g.way, known = ways[strings.ToLower(f.Value)]; !known {
		return &Error{f.Name, f.Value, "must be regex, exact, default, tags or ban-regex"}
	}
	return nil
}

// distinct returns each tag once, in order.
func distinct(tags []string) (out []string) {
	seen := make(map[string]bool, len(tags))
	for _, tag := range tags {
		if !seen[tag] {
			seen[tag] = true
			out = append(out, tag)
		}
	}
	return out
}

// checkBounds refuses what would make a purge smaller in a way that is not understood.
func (r *Request) checkBounds(g *given) error {
	if t := g.types; t.name != "" && !isAnything(t.value) {
		return &Error{t.name, t.value, "must be .*: what is stored is not selected by its type"}
	}
	for _, f := range []named{g.url, g.types, g.expression} {
		if f.name != "" && r.Method != methodBan && g.way != wayBanRegexp {
			return &Error{f.name, f.value, "needs the method BAN with this field"}
		}
	}
	return nil
}

// criterion is what a purge goes by.
type criterion uint8

const (
	byTarget criterion = iota
	byTags
	byURL
	byExpression
	byClear
)

// selector returns what the purge goes by. A request with two of these is not understood, but BAN with tags may have a pattern for URLs.
func (g *given) selector() (criterion, error) {
	found, name := byTarget, ""
	for _, s := range []struct {
		by   criterion
		name string
	}{{byTags, g.tagField}, {byExpression, g.expression.name}, {byClear, g.clear.name}, {byURL, g.url.name}} {
		switch {
		case s.name == "" || found == byTags && s.by == byURL:
		case name != "":
			return found, &Error{s.name, "", "must be without " + name}
		default:
			found, name = s.by, s.name
		}
	}
	if err := g.checkWay(found); err != nil {
		return found, err
	}
	if c := g.clear; c.name != "" && !strings.EqualFold(c.value, "true") && c.value != "1" {
		return found, &Error{c.name, c.value, "must be true"}
	}
	return found, nil
}

// checkWay refuses an X-Purge-Method that says another thing than the rest of the request.
func (g *given) checkWay(found criterion) error {
	wants := ""
	switch {
	case g.way == wayTags && found != byTags:
		wants = "needs a field with tags beside it"
	case g.way == wayBanRegexp && (found != byURL || g.url.name != "X-Ban-Regex"):
		wants = "needs X-Ban-Regex beside it"
	case (g.way == wayExact || g.way == wayPattern) && found != byTarget:
		wants = "must be without another field that says what to purge"
	default:
		return nil
	}
	return &Error{g.wayField.name, g.wayField.value, wants}
}

// softly reports whether all is to become stale.
func (g *given) softly() (bool, error) {
	switch strings.ToLower(g.soft.value) {
	case "1", "true":
		if len(g.tags) > 0 && g.tagField == "Xkey-Purge" {
			return false, &Error{g.soft.name, g.soft.value, "must be xkey-softpurge in place of xkey-purge"}
		}
		return true, nil
	case "0", "false":
		return false, nil
	}
	if g.soft.name != "" {
		return false, &Error{g.soft.name, g.soft.value, "must be 1"}
	}
	return false, nil
}
