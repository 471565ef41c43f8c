package basicauth

import (
	"bytes"
	"encoding/base64"
	"slices"
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

var strict = base64.StdEncoding.Strict()

// nameIn returns the name of the user in a token, by room, which is as long as the longest token; nil where there is none. It allocates nothing.
func nameIn(room, token []byte) []byte {
	n, err := strict.Decode(room, token)
	at := bytes.IndexByte(room[:n], ':')
	if err != nil || at < 0 {
		return nil
	}
	return room[:at]
}

// AppendName appends the name of the user in a value of Authorization, whether that is known here or not; nothing where there is
// none. It allocates nothing where dst has room for the value.
func AppendName(dst, authorization []byte) []byte {
	token := tokenOf(authorization)
	room := slices.Grow(dst, strict.DecodedLen(len(token)))
	return append(dst, nameIn(room[len(dst):cap(room)], token)...)
}

// parts reads a token (RFC 7617 section 2). Nobody has a password of which bcrypt would read a part only.
func parts(token []byte) (user, password string, ok bool) {
	text, err := strict.DecodeString(string(token))
	if err != nil {
		return "", "", false
	}
	user, password, ok = strings.Cut(string(text), ":")
	return user, password, ok && user != "" && len(password) <= mostPasswordBytes && !strings.ContainsFunc(user+password, control)
}
