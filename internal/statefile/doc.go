// Package statefile answers: how does a file that outlives the process get onto
// the disk whole, and how does the next start know that it is?
//
// There are two kinds. A state is written whole; a journal grows by records, each of which is on the
// disk when Append returns, and ReadJournal tells what a kill left unfinished from damage.
//
// Write puts the new content beside the old one and renames it into place; Open
// verifies everything before it hands out a byte. The law it keeps: at any
// moment, a kill or a loss of power included, the path names either nothing, or
// one whole content that some Write was given; and nothing else is ever read as
// one.
//
// It does not know what the content means, keeps no older copies, and does not
// arbitrate between two processes that write to one path: each writes a temporary
// file of its own, and the last one to end wins. ClaimDir is for those who have to be alone.
// Renaming over a file and syncing a directory are what POSIX systems offer.
package statefile
