package proxy

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"

	"edgeproxy/internal/ops/accesslog"
)

// This file says which id a request has in the log, in lines about errors and for the origin.
//
// A route whose rules name {request_id} gives each of its requests one: that of a trusted proxy in front, else a new one.
// Where no route is known, the rules for our own answers may name it as well. Elsewhere X-Request-Id is a field like others, which reaches the origin as it came, and the logs have what came.

const (
	headerRequestID = "X-Request-Id"

	// mostIDBytes is how long an id of a trusted proxy may be.
	mostIDBytes = 128
	// ownIDBytes is how many random bytes an id of ours has.
	ownIDBytes = 16
)

// identified reports whether x has an id.
func (x *routed) identified() bool {
	if x.route == nil {
		return x.settings.generated.HasRequestID()
	}
	return x.route.identifies
}

// RequestID implements template.Client: the id that a route gives x. It is the same each time, and valid as long as x is.
func (x *incoming) RequestID() []byte {
	if x.trusted != nil {
		if lines := x.fieldLines(headerRequestID); len(lines) == 1 && soundID(lines[0]) {
			return lines[0]
		}
	}
	if len(x.id) == 0 {
		var random [ownIDBytes]byte
		binary.LittleEndian.PutUint64(random[:], rand.Uint64())  //nolint:gosec // an id is no secret
		binary.LittleEndian.PutUint64(random[8:], rand.Uint64()) //nolint:gosec // an id is no secret
		x.id = hex.AppendEncode(x.id, random[:])
	}
	return x.id
}

// soundID reports whether an id may be passed on: visible ASCII, of a length that logs can bear.
func soundID(id []byte) bool {
	for _, c := range id {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return 0 < len(id) && len(id) <= mostIDBytes
}

// identify has line have the id of x, where its route gives one.
func (x *routed) identify(line *accesslog.Line) {
	if x.identified() {
		line.RequestID = x.RequestID()
	}
}

// idForLog returns the id of x as the access log has it; "" is none.
func (x *routed) idForLog() string {
	if x.identified() {
		return string(x.RequestID())
	}
	if lines := x.fieldLines(headerRequestID); len(lines) > 0 {
		return string(lines[0])
	}
	return ""
}
