package edgetest

import "edgeproxy/internal/test/edgetest"

// The origin is that of internal/test/edgetest.
type (
	Origin  = edgetest.Origin
	Conn    = edgetest.Conn
	Request = edgetest.Request
)

// StartOrigin is edgetest.StartOrigin.
var StartOrigin = edgetest.StartOrigin
