// Package config reads and checks edgeproxy's configuration. It has the types, the
// defaults, the strict reading of the YAML file and the checks.
//
// A Config that this package returns is complete and has passed every check. Nothing
// in a file is ignored: an unknown key, a key given twice, a key that is not supported
// yet and a value that can never work are errors. All problems of a file are reported
// at once, each as
//
//	FILE:LINE:COL: key: value: what is wanted, or what to do
//
// and those of a command line flag as
//
//	--flag: value: what is wanted, or what to do
//
// Every setting is one row of a table (table.go), which binds the field of a struct to
// its key, default, range, meaning and effect. The table of a section stands beside its
// type. Reading has four steps, one file each: syntax (YAML text to nodes), decode
// (nodes to typed values, by the tables; include.go adds the routes and origins of other files), flags (they override the file), validate (each
// value by the tables, then values together). The same tables make the reference file and
// the starter file (reference.go), the configuration in force (effective.go), the page of
// settings (page.go), the JSON Schema (schema.go) and the list of changes of a reload
// (changes.go).
//
// Anchors, aliases, merge keys and tags are errors. Environment variables are expanded in
// values after the YAML has been parsed, so that no variable can add a key.
//
// The room that uses a setting says what is wrong with it (cachekey, fieldrules, template, admission), and validate says where.
// The package opens no socket and no file that a setting names: what those hold is checked by internal/edge.
package config
