// Command diskbench answers: what does the store of the disk tier write, hold and keep waiting?
//
// It has three parts, each on files of its own in one directory, which it removes at the end:
//
//   - replay: requests of a trace against the store and second-hit admission. It prints the hit ratios, the bytes stored, and what the
//     kernel says the process has written (/proc/self/io), for the store, and for a FIFO ring and an exact LRU of the same size in memory. Requests wait
//     for the writer, so that little is found in its queue. With -restart the store is closed and opened between two passes.
//   - reads: random cold reads beside a writer of 100 MB/s, and without one: of the store, and of a file for each record, as nginx's proxy_cache
//     lays them.
//   - fill: a directory of many objects, real footers and bodies that are holes, is opened with a cold page cache.
//
// The law: what is judged comes from the store's own calls and from the kernel. It measures no HTTP.
package main
