package sealed

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// MinSecret and MaxSecret bound the secret, in bytes without the white space around it. Who listens can try secrets, so it has to be one that
// nobody guesses: openssl rand -hex 32 makes one.
const (
	MinSecret = 32
	MaxSecret = 1024
)

// Secret is what the edges of a fleet know and nobody else. The zero Secret is none. It prints as stars.
type Secret struct{ text string }

// ReadSecret reads the secret in a file, without the white space around it. The error says what the file must have, and never quotes it.
func ReadSecret(path string) (Secret, error) {
	f, err := os.Open(path)
	if err != nil {
		if p, ok := errors.AsType[*fs.PathError](err); ok {
			err = p.Err // the caller shows the path
		}
		return Secret{}, fmt.Errorf("must be a file with the fleet's secret: %w", err)
	}
	defer func() { _ = f.Close() }() // nothing was written
	b, err := io.ReadAll(io.LimitReader(f, 4*MaxSecret))
	if err != nil {
		return Secret{}, fmt.Errorf("must be a file with the fleet's secret: %w", err)
	}
	text := strings.TrimSpace(string(b))
	if len(text) < MinSecret || len(text) > MaxSecret {
		return Secret{}, fmt.Errorf("must be a file with a secret of %d to %d bytes, such as openssl rand -hex 32 makes: it has %d", MinSecret, MaxSecret, len(text))
	}
	return Secret{text}, nil
}

// Given reports whether there is a secret.
func (s Secret) Given() bool { return s.text != "" }

// String returns stars, or "" for none.
func (s Secret) String() string {
	if !s.Given() {
		return ""
	}
	return "***"
}

// GoString returns stars, like String.
func (s Secret) GoString() string { return s.String() }

// NonceBytes is the length of a nonce.
const NonceBytes = 32

// NewNonce returns a random nonce, which nobody foresees.
func NewNonce() []byte {
	b := make([]byte, NonceBytes)
	_, _ = rand.Read(b) // it never fails
	return b
}

const keyBytes = 32

// key derives the key for one use (RFC 5869). Under the same secret other uses and other salts have keys that tell nothing of it.
func (s Secret) key(use string, salt []byte) ([]byte, error) {
	return hkdf.Key(sha256.New, []byte(s.text), salt, "edgeproxy fleet: "+use, keyBytes)
}

// Proof returns what only who has the secret can say of a nonce: who asks for something sends it along, so that nothing is done for others. It
// tells nothing of the secret, and opens nothing.
func (s Secret) Proof(use string, nonce []byte) ([]byte, error) {
	return s.key("proof for "+use, nonce)
}

// Proven reports whether proof is that of the nonce. It takes as long for any other.
func (s Secret) Proven(use string, nonce, proof []byte) bool {
	want, err := s.Proof(use, nonce)
	return err == nil && subtle.ConstantTimeCompare(want, proof) == 1
}
