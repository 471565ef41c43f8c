package config

import "strings"

// renamedTo returns the name that a setting has now which was at path once, or "".
func renamedTo(path, name string) string { return inSection(renamedNames, path, name) }

// renamedNames are former names of settings, with the new ones.
var renamedNames = map[string]string{
	"admission.open_below":     "admission.warm_up_below",
	"cache.stale.server_error": "cache.stale.if_error",
	"headers.own":              "headers.generated",
	"limits.keepalive":         "limits.keepalive_timeout",
	"limits.read_idle":         "limits.read_idle_timeout",
	"limits.spool":             "limits.spool_path",
	"limits.upgrade_idle":      "limits.upgrade_idle_timeout",
	"limits.write_idle":        "limits.write_idle_timeout",
	"tls.acme.agree":           "tls.acme.accept_terms",
}

// inSection returns what names has for a key at path, with the path of its section in front. A section of a route is like the one at
// the top.
func inSection(names map[string]string, path, name string) string {
	section := pathPattern(parent(path))
	if text, ok := names[section+"."+asLookedUp(name)]; ok {
		return text
	}
	if inRoute, ok := strings.CutPrefix(section, "routes[]."); ok {
		return names[inRoute+"."+asLookedUp(name)]
	}
	return ""
}

// asLookedUp is a key in lower case, with _ for -.
func asLookedUp(name string) string { return strings.ToLower(strings.ReplaceAll(name, "-", "_")) }
