// Package filetier keeps the content of stored responses in files of one folder.
//
// It answers one question: does everything that is stored and sent still work where no content
// lies in memory, and where it comes back after a restart? It is the Medium (internal/cache) of
// tests: the scenarios and the wire tests run on it a second time. It has no bound of its own and
// holds a descriptor for each file, so it is no tier for a program.
//
// A draft is a file called draft-… . Finish gives it a name of its own, content-… . A file is
// removed when no entry has it any more; what reads it has its descriptor, which the garbage
// collector closes with the last reference. Open removes what an earlier process has left.
//
// Reopen does not: that tier outlives the process. It has the entry of each file beside it, in a
// file called entry-…, which is in its place before the content is, and is replaced whole. What it
// has comes back by Restore if the purges since are known: the Identity of the latest run is kept
// in a file as well.
package filetier
