// Package device does what the disk tier asks of a directory of files.
//
// It answers one question: how is this one file operation done on this system, and what is its result? Its files are
// written once from their beginning to their end, past the page cache where the file system allows that, read at any
// offset, freed in ranges (Punch) and removed. Calls stay within the directory that was opened, also when its path names
// another one later; Lost says so.
//
// Each call first asks the Hook, if there is one: tests let it fail there, cut it short, or wait. Everything is safe for
// concurrent use, but for the writes to one file.
//
// The package counts nothing and decides nothing: it has no retry, no bound and no time limit.
package device
