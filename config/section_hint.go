package config

import "slices"

// sectionHint says in which section an unknown key belongs, or "". It knows the sections
// that are most often mixed up, and leaves out names that have several meanings.
func sectionHint(name string) string {
	if name == "key" || name == "memory" {
		return ""
	}
	has := func(t table) bool {
		s, ok := t.find(name)
		return ok && s.isDocumented()
	}
	switch c := new(Config); {
	case has(c.Cache.table()):
		return "in the cache section"
	case has(c.Limits.table()):
		return "in the limits section"
	case has(c.Inherited.table()):
		return "at the top of the file, for all routes, or in a route"
	case slices.Contains([]string{"purge", "cache_status", "access_log"}, name):
		return "at the top of the file"
	}
	return ""
}
