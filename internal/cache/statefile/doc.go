// Package statefile writes files that outlive the process, and verifies them at the
// next start.
//
// There are two kinds. A state file is written as a whole. A journal grows by records:
// each is on the disk when Append returns. ReadJournal distinguishes a record that a
// kill left unfinished from damage. It cannot see that whole records are missing at the
// end: for that a Last in a second file says how far the first one goes.
//
// Write writes a temporary file and renames it to the path. Open verifies the whole
// file before it returns a byte. So at any moment, even after a kill or a loss of
// power, the path names either nothing or the whole content of one Write, and Open
// accepts nothing else.
//
// The package does not know what the content means and keeps no older copies. Two
// processes may write to one path: each writes a temporary file of its own, and the
// last rename wins. A process that has to be alone uses ClaimDir. The package relies on
// POSIX systems: they rename over a file and sync a directory.
package statefile
