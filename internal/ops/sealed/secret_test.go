package sealed

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

func secretOf(t *testing.T, text string) (Secret, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return ReadSecret(path)
}

func TestSecretsOfAFile(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", 4)
	s, err := secretOf(t, " "+long+"\n")
	if err != nil || !s.Given() || s.text != long {
		t.Errorf("got %q, %v", s.text, err)
	}
	if text := fmt.Sprintf("%v %s %+v %#v", s, s, s, s); strings.Contains(text, "0123") {
		t.Errorf("it prints as %q", text)
	}
	if (Secret{}).Given() {
		t.Error("the zero Secret is one")
	}
	for text, want := range map[string]string{
		"": "it has 0", "\n": "it has 0", "short-secret": "it has 12", strings.Repeat("x", 1025): "it has 1025",
	} {
		if s, err := secretOf(t, text); err == nil || s.Given() || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "must be a file with ") {
			t.Errorf("%.20q: got %v, %v, want %q", text, s, err, want)
		}
	}
	if _, err := ReadSecret(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) || strings.Contains(err.Error(), "none") {
		t.Errorf("a missing file: got %v", err)
	}
}

func sealed(t *testing.T, s Secret, use string, nonce, content []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := s.Seal(&out, use, nonce)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func open(s Secret, use string, nonce []byte, from io.Reader) ([]byte, error) {
	r, err := s.Open(from, use, nonce)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

func TestOnlyWhatWasSealedOpens(t *testing.T) {
	secret, _ := secretOf(t, strings.Repeat("a", MinSecret))
	other, _ := secretOf(t, strings.Repeat("a", MinSecret)+"b")
	nonce := NewNonce()
	for _, size := range []int{0, 1, 64<<10 - 1, 64 << 10, 64<<10 + 1, 300_000} {
		content := bytes.Repeat([]byte("sightings "), size/10+1)[:size]
		stream := sealed(t, secret, "one", nonce, content)
		if bytes.Contains(stream, []byte("sightings")) {
			t.Fatal("the stream can be read")
		}
		for _, from := range []io.Reader{bytes.NewReader(stream), iotest.OneByteReader(bytes.NewReader(stream)), iotest.HalfReader(bytes.NewReader(stream))} {
			if got, err := open(secret, "one", nonce, from); err != nil || !bytes.Equal(got, content) {
				t.Errorf("%d bytes: got %d, %v", size, len(got), err)
			}
		}
		refuse := func(what string, s Secret, use string, nonce, stream []byte) {
			t.Helper()
			if _, err := open(s, use, nonce, bytes.NewReader(stream)); !errors.Is(err, ErrSealed) {
				t.Errorf("%d bytes, %s: got %v", size, what, err)
			}
		}
		refuse("another secret", other, "one", nonce, stream)
		refuse("another use", secret, "two", nonce, stream)
		refuse("sent to somebody else, or before", secret, "one", NewNonce(), stream)
		for _, at := range []int{0, 1, 7, 8, 39, 40, 41, len(stream) / 2, len(stream) - 1} {
			if at >= len(stream) {
				continue
			}
			refuse(fmt.Sprintf("cut at %d", at), secret, "one", nonce, stream[:at])
			changed := bytes.Clone(stream)
			changed[at] ^= 0x10
			refuse(fmt.Sprintf("changed at %d", at), secret, "one", nonce, changed)
		}
		refuse("something behind it", secret, "one", nonce, append(bytes.Clone(stream), stream[40:]...))
	}
	const packet = 64<<10 + 32 // length of a package of DARE
	stream := sealed(t, secret, "one", nonce, make([]byte, 3*64<<10))
	cut := append(bytes.Clone(stream[:40+packet]), stream[40+2*packet:]...)
	if _, err := open(secret, "one", nonce, bytes.NewReader(cut)); !errors.Is(err, ErrSealed) {
		t.Errorf("without its middle: got %v", err)
	}
	if _, err := open(secret, "one", nonce, bytes.NewReader(stream[:40+2*packet])); !errors.Is(err, ErrSealed) {
		t.Errorf("cut between two packages: got %v", err)
	}
}

func TestErrorsOfTheStreamPass(t *testing.T) {
	secret, _ := secretOf(t, strings.Repeat("a", MinSecret))
	broken := errors.New("the line is broken")
	if _, err := secret.Seal(brokenWriter{broken}, "one", NewNonce()); !errors.Is(err, broken) {
		t.Errorf("seal: got %v", err)
	}
	nonce := NewNonce()
	stream := sealed(t, secret, "one", nonce, make([]byte, 100_000))
	for _, at := range []int{0, 20, 1000, len(stream)} {
		_, err := open(secret, "one", nonce, io.MultiReader(bytes.NewReader(stream[:at]), iotest.ErrReader(broken)))
		if !errors.Is(err, broken) || errors.Is(err, ErrSealed) {
			t.Errorf("broken at %d: got %v", at, err)
		}
	}
}

type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

func TestOnlyTheSecretProvesANonce(t *testing.T) {
	secret, _ := secretOf(t, strings.Repeat("a", MinSecret))
	other, _ := secretOf(t, strings.Repeat("b", MinSecret))
	nonce := NewNonce()
	proof, err := secret.Proof("one", nonce)
	if err != nil || !secret.Proven("one", nonce, proof) {
		t.Fatalf("got %x, %v", proof, err)
	}
	if other.Proven("one", nonce, proof) || secret.Proven("two", nonce, proof) || secret.Proven("one", NewNonce(), proof) || secret.Proven("one", nonce, nil) || secret.Proven("one", nonce, proof[1:]) {
		t.Error("it proves something else as well")
	}
}
