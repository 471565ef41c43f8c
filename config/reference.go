package config

// This file makes the reference file and the starter file from the tables.

const referenceHead = `# edgeproxy: every setting with its default. What is left out has the same value,
# so a file needs no more than origins. This file is made from the tables in config/;
# docs/settings.md says more of each setting.
#
# An unknown key is an error. Sizes take B, KB, KiB, MB, MiB, GB and GiB; durations
# need a unit (ms, s, m, h). ${VAR} and ${VAR:-default} are expanded in values, $$ is
# a dollar sign. One variable may hold a list, with commas. Check a file with: edgeproxy check -c FILE

`

// Reference returns a file with every setting and its default: config/edgeproxy.yaml. It
// has one origin, 127.0.0.1:9000. Optional sections are comments in it.
func Reference() string {
	c := sampleConfig()
	w := newWriter(&c.src, true, func(s row, _ string) inclusion {
		if s.optional {
			return asComment
		}
		return written
	})
	return referenceHead + w.file(c.table())
}

const starterHead = `# yaml-language-server: $schema=edgeproxy.schema.json
# (edgeproxy config schema > edgeproxy.schema.json lets editors complete and check this file.)
#
# What most people set of edgeproxy, with the defaults. Only origins has to be there.
# All settings: docs/settings.md, and with their values: edgeproxy config print -c FILE
# Check this file with: edgeproxy check -c FILE

`

// Starter returns a short file to begin with, which passes the checks.
func Starter() string {
	c := sampleConfig()
	basic := map[string]bool{} // paths of basic settings, and of the sections around them
	c.table().walkNames("", func(path string, s row) {
		if s.basic {
			for at := path; at != ""; at = parent(at) {
				basic[at] = true
			}
		}
	})
	w := newWriter(&c.src, true, func(s row, path string) inclusion {
		if basic[pathPattern(path)] && !s.override {
			return written
		}
		return leftOut
	})
	return starterHead + w.file(c.table())
}

// sampleConfig is the configuration of a start with one origin.
func sampleConfig() *Config {
	c, err := FromFlags(Flags{Origin: "http://127.0.0.1:9000"})
	if err != nil {
		panic(err) // the defaults are in their ranges
	}
	return c
}
