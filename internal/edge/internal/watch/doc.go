// Package watch says when files may have changed.
//
// Files watches the folders on the path to each file, because editors replace the file and
// clusters replace a symbolic link to its folder. Of a whole folder, every name in it counts. What is watched may change with what
// the files say. Changes that come close together are
// reported once, so that the caller does not read a file that is still being written. Some
// file systems, such as network file systems, report no changes: so Files also reports at
// regular times.
//
// It does not read the files. The caller compares them with what it has read before.
package watch
