package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
)

// token is what a request has to show (RFC 6750 section 2.1). Its digest is kept and
// compared, so that how long a comparison takes tells neither its bytes nor its length.
type token struct {
	there  bool
	digest [sha256.Size]byte
}

func newToken(text string) token {
	return token{there: text != "", digest: sha256.Sum256([]byte(text))}
}

// shown reports whether r shows the token, in its only Authorization field.
func (t token) shown(r *http.Request) bool {
	fields := r.Header.Values("Authorization")
	if len(fields) != 1 {
		return false
	}
	scheme, text, _ := strings.Cut(fields[0], " ")
	digest := sha256.Sum256([]byte(strings.Trim(text, " ")))
	right := subtle.ConstantTimeCompare(digest[:], t.digest[:]) == 1
	return right && strings.EqualFold(scheme, "Bearer")
}

// demand refuses a request that does not show the token, with what RFC 6750 section 3
// wants to be said.
func demand(w http.ResponseWriter, r *http.Request) {
	challenge, why := `Bearer realm="edgeproxy admin"`, "want Authorization: Bearer and the admin token"
	if r.Header.Get("Authorization") != "" {
		challenge, why = challenge+`, error="invalid_token"`, "the token is not the admin token"
	}
	w.Header().Set("WWW-Authenticate", challenge)
	writeError(w, http.StatusUnauthorized, why)
}
