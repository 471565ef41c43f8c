// Package watch says when a file may have changed.
//
// It answers one question: is it time to look at this file again? A File watches the folders
// on the way to it, because editors put a new file in the place of the old one, and clusters
// a new link in the place of a folder's. It tells once of changes that come close together, for
// a file that is being written is not yet worth reading. Where the system tells of no change,
// as in network file systems, it tells every now and then all the same.
//
// It does not read the file. The caller compares the file with what it has read before.
package watch
