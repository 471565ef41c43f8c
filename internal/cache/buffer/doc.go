// Package buffer lends memory for short bodies, so that responses leave no garbage behind.
//
// A Buffer may have several owners, such as the answer to a client and the queue of a disk. The last of them to release it
// gives it back. Code that hands its bytes on for an unknown time calls Keep: then the memory is left to the garbage
// collector.
package buffer
