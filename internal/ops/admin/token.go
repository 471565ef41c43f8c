package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
)

// token is the bearer token that requests need (RFC 6750 section 2.1). It keeps and compares
// digests, so that the time of a comparison reveals neither the token's bytes nor its length.
type token struct {
	required bool
	digest   [sha256.Size]byte
}

func newToken(text string) token {
	return token{required: text != "", digest: sha256.Sum256([]byte(text))}
}

// presentedBy reports whether r has the token in its only Authorization field.
func (t token) presentedBy(r *http.Request) bool {
	fields := r.Header.Values("Authorization")
	if len(fields) != 1 {
		return false
	}
	scheme, text, _ := strings.Cut(fields[0], " ")
	digest := sha256.Sum256([]byte(strings.Trim(text, " ")))
	right := subtle.ConstantTimeCompare(digest[:], t.digest[:]) == 1
	return right && strings.EqualFold(scheme, "Bearer")
}

// requireToken refuses a request without the token, with the challenge of RFC 6750 section
// 3. It notes a wrong one: none at all is what a browser begins with.
func requireToken(w http.ResponseWriter, r *http.Request, wrong *wrongTokens) {
	challenge, why := `Bearer realm="edgeproxy admin"`, "needs Authorization: Bearer and the admin token"
	if r.Header.Get("Authorization") != "" {
		challenge, why = challenge+`, error="invalid_token"`, "the token is not the admin token"
		wrong.note(clientOf(r))
	}
	w.Header().Set("WWW-Authenticate", challenge)
	writeError(w, http.StatusUnauthorized, why)
}
