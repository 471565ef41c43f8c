// Package filetier keeps the content of stored responses in files of one folder.
//
// It answers one question: does everything that is stored and sent still work where no content
// lies in memory? It is the Medium (internal/cache) of tests: the scenarios and the wire tests
// run on it a second time. It has no bound of its own and holds a descriptor for each file, so it
// is no tier for a program.
//
// A draft is a file called draft-… . Finish gives it a name of its own. A file is removed when no
// entry has it any more; what reads it has its descriptor, which the garbage collector closes with
// the last reference. Open removes whatever a process that was killed has left of drafts.
package filetier
