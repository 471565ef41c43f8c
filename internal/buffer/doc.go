// Package buffer lends memory for short bodies, so that the garbage collector need not find it again for each response.
//
// A Buffer may have several owners, such as the answer to a client and the queue of a disk. The last of them to release it
// gives it back. Whoever hands its bytes on for an unknown time calls Keep: then it is left to the collector.
package buffer
