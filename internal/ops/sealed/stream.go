package sealed

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/minio/sio"
)

// A sealed stream is
//
//	magic [8] salt [32] and packages of DARE 2.0: AES-256-GCM or ChaCha20-Poly1305
//
// with a zero byte and the content, so that also an empty content has a package.
//
// The key is its own: of the secret, its use, the salt, and the nonce of the one who asked for it. So a stream that was sent before, or to somebody
// else, is refused, as is one with a part changed, moved or missing, its end included.
const sealedMagic = "edgesl1\n"

// ErrSealed says that a stream is not one that an edge with the same secret has sealed for this use and nonce, or that it was cut.
var ErrSealed = errors.New("it is not sealed with this secret, or was changed or cut on its way")

// Seal returns a writer that seals what is written to it, and writes that to w. Close writes the end, without which Open fails, and
// leaves w open. Nonce is that of the reader, NonceBytes long.
func (s Secret) Seal(w io.Writer, use string, nonce []byte) (io.WriteCloser, error) {
	salt := NewNonce()
	key, err := s.key(use, slices.Concat(salt, nonce))
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	sealed, err := sio.EncryptWriter(onlyWriter{w}, sio.Config{Key: key, MinVersion: sio.Version20})
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	if _, err := w.Write(append([]byte(sealedMagic), salt...)); err != nil {
		return nil, err
	}
	if _, err := sealed.Write([]byte{0}); err != nil {
		return nil, err
	}
	return sealed, nil
}

// onlyWriter hides that w may be closed.
type onlyWriter struct{ io.Writer }

// Open returns a reader of what Seal was given. Use nothing of it before the reader has returned io.EOF: only then is it certain that an edge
// with the secret wrote all of it. Errors are those of r, or have ErrSealed in their chain.
func (s Secret) Open(r io.Reader, use string, nonce []byte) (io.Reader, error) {
	head := make([]byte, len(sealedMagic)+NonceBytes)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, unsealed(unexpected(err))
	}
	if string(head[:len(sealedMagic)]) != sealedMagic {
		return nil, ErrSealed
	}
	key, err := s.key(use, slices.Concat(head[len(sealedMagic):], nonce))
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	opened, err := sio.DecryptReader(r, sio.Config{Key: key, MinVersion: sio.Version20})
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	if _, err := io.ReadFull(opened, make([]byte, 1)); err != nil {
		return nil, unsealed(unexpected(err))
	}
	return openReader{opened}, nil
}

// unexpected makes an end where more was to come an unexpected one.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// openReader names what is wrong with a stream.
type openReader struct{ from io.Reader }

// Read reads what was sealed.
func (r openReader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	return n, unsealed(err)
}

// unsealed adds ErrSealed to an error of the stream itself.
func unsealed(err error) error {
	var damaged sio.Error
	if errors.As(err, &damaged) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: %w", ErrSealed, err)
	}
	return err
}
