// Package edge composes the rooms into one proxy that runs.
//
// It answers one question: which rooms run, with which options, and in which order do they start and stop?
//
// The law it keeps: no other room knows the format of the configuration file, or which rooms run beside it. This package alone
// translates settings into the options of rooms (options.go and the files beside it), at a start and at a reload by the same
// functions. What a reload replaces is in one struct, live; everything else is built once. The files and folders that
// settings name are checked by the functions that open them at a start. Rooms start from the inside out and stop from the
// outside in (Start, Stop).
//
// An Edge is used in this order: New, Listen, Start, and at the end Stop, which may also follow New or Listen. The other types are the
// JSON documents of the admin listener, which commands decode. Their fields are named as in the documents: durations are numbers of
// seconds, and counts are since the start of the process if nothing else is said.
//
// What it does not do: it decides nothing about a request, which internal/proxy does. It parses no command line, receives
// no signal, and prints nothing but log lines: cmd/edgeproxy does that.
package edge
