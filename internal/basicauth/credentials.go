package basicauth

import (
	"bytes"
	"encoding/base64"
	"strings"
)

// mostTokenBytes is the longest token: longer ones are nobody's.
const mostTokenBytes = 1 << 10

// tokenOf returns the token of a value of Authorization, nil if it is of another scheme or too long.
func tokenOf(authorization []byte) []byte {
	const scheme = "basic "
	if len(authorization) <= len(scheme) || !bytes.EqualFold(authorization[:len(scheme)], []byte(scheme)) {
		return nil
	}
	token := bytes.Trim(authorization[len(scheme):], " ")
	if len(token) == 0 || len(token) > mostTokenBytes {
		return nil
	}
	return token
}

// parts reads a token (RFC 7617 section 2).
func parts(token []byte) (user, password string, ok bool) {
	text, err := base64.StdEncoding.Strict().DecodeString(string(token))
	if err != nil {
		return "", "", false
	}
	user, password, ok = strings.Cut(string(text), ":")
	return user, password, ok && user != "" && !strings.ContainsFunc(user+password, control)
}
