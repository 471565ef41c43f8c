package config

import "slices"

// home returns in which section a key belongs that stands where none of its name is
// known, or "". It knows the sections that are most often mixed up, and leaves out names
// that mean something else elsewhere.
func (d *decoder) home(name string) string {
	if name == "key" || name == "memory" {
		return ""
	}
	if _, ok := d.cacheKeys(&Cache{})[name]; ok {
		return "in the cache section"
	}
	if _, ok := d.limitKeys(&Limits{})[name]; ok {
		return "in the limits section"
	}
	if slices.Contains([]string{"headers", "unusual_field_names", "allow_ambiguous_path"}, name) {
		return "in a route"
	}
	if slices.Contains([]string{"purge", "cache_status", "access_log"}, name) {
		return "at the top of the file"
	}
	return ""
}
