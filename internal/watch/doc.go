// Package watch says when a file may have changed.
//
// A File watches the folders on the path to its file, because editors replace the file and
// clusters replace a symbolic link to its folder. Changes that come close together are
// reported once, so that the caller does not read a file that is still being written. Some
// file systems, such as network file systems, report no changes: so a File also reports at
// regular times.
//
// It does not read the file. The caller compares the file with what it has read before.
package watch
