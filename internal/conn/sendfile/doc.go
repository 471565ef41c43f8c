// Package sendfile keeps copies of large bodies that are asked for often, in files that lie in
// memory.
//
// It answers one question: has the kernel this body in pages of its own? From such a file it
// sends pages as they are (sendfile(2)); from memory of the program it copies each byte first. For
// a hit of 256 KiB that copy is a third of the cost.
//
// A copy is one more than the cache has: it never stands for it. The sender has the body in
// memory as well, and goes on from there if the file fails. All copies together are bounded, and
// a copy goes when its body leaves the cache.
package sendfile
