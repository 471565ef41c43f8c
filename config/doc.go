// Package config holds the shape of edgeproxy's configuration: its types, its
// defaults, the strict reading of the YAML file and the check of what it says.
//
// It answers one question: what did the operator ask for, and where did they
// say it? The law it keeps: a Config that was handed out is complete and has
// passed every check, and nothing in a file is ever ignored. An unknown key, a
// key given twice, a key that is not supported yet and a value that can never
// work are all errors. All problems of a file are reported at once, each as
//
//	FILE:LINE:COL: key: value: what is wanted
//
// and those of a command line flag as
//
//	--flag: value: what is wanted
//
// Every setting is one row of a table (table.go), which binds the field of a struct to
// its key, default, range, meaning and effect; the table of a section stands beside its
// type. Reading goes in four steps, one file each: syntax (YAML text to nodes), decode
// (nodes to typed values, by the tables), flags (over the file), validate (each value by
// the tables, and what the values mean together). The same tables write: the reference
// file and the one to begin with (reference.go), what is in force (effective.go), the page
// of settings (page.go), the JSON Schema (schema.go), and what a reload changes (changes.go). Anchors, aliases, merge keys and tags are not
// taken: a value stands where it is used. Environment variables are expanded in
// values after the YAML has been parsed, so that no variable can add a key.
//
// The package opens no socket, builds no room and knows none of their options;
// the command translates a Config into those. It imports nothing of edgeproxy.
package config
