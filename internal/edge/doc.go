// Package edge composes the rooms into one proxy that runs.
//
// It answers one question: which rooms run, with which options, and in which order do they start and stop?
//
// The law it keeps: no room knows the format of the configuration file, and none knows who else runs. This package alone
// translates settings into the options of rooms (options.go and the files beside it), at a start and at a reload by the same
// functions. What a reload replaces is in one struct, live; everything else is built once. The files and folders that
// settings name are checked by the functions that open them at a start. Rooms start from the inside out and stop from the
// outside in (Start, Stop).
//
// An Edge is used in this order: New, Listen, Start, and at the end Stop, which may come at any time. The other types are the
// JSON documents of the admin listener, which commands decode. Their fields are named as in the documents: seconds are
// numbers, and counts are since the start of the process if nothing else is said.
//
// What it does not do: it decides nothing about a request, which internal/proxy does. It knows no command, no flag, no signal
// and no terminal, which cmd/edgeproxy does; it prints nothing but log lines.
package edge
