package compress

import (
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/molecule-man/go-brrr"

	"edgeproxy/internal/route/setting"
)

// readBytes is how much is read of an origin before it is encoded.
const readBytes = 32 << 10

// encoder is what the libraries have in common.
type encoder interface {
	io.WriteCloser
	Flush() error
	Reset(to io.Writer)
}

// Windows bound the memory of an encoder, and of the decoder of a client. Most texts are shorter.
const (
	brotliWindow = 18        // 256 KiB, as its binary logarithm
	zstdWindow   = 512 << 10 // a client may refuse more than 8 MiB (RFC 9659)
)

// The libraries' words for our levels. What is above takes several times the work, and 37 MiB for each encoder, to leave
// hardly less.
var (
	gzipLevels   = [setting.Levels]int{gzip.BestSpeed, 5, gzip.BestCompression}
	brotliLevels = [setting.Levels]int{2, 4, 6}
	zstdLevels   = [setting.Levels]zstd.EncoderLevel{zstd.SpeedFastest, zstd.SpeedDefault, zstd.SpeedBetterCompression}
)

// machine is an encoder and the room for what it is given.
type machine struct {
	encoder
	in []byte
}

// spare are the machines that nobody uses. One that was given up in the midst of a stream is as good as any: Reset
// makes it new.
var spare [Count][setting.Levels]sync.Pool

// take returns a machine that writes to w.
func take(c Coding, l Level, w io.Writer) (*machine, error) {
	if m, _ := spare[c][l].Get().(*machine); m != nil {
		m.Reset(w)
		return m, nil
	}
	e, err := newEncoder(c, l, w)
	if err != nil {
		return nil, err
	}
	return &machine{encoder: e, in: make([]byte, readBytes)}, nil
}

func newEncoder(c Coding, l Level, w io.Writer) (encoder, error) {
	switch c {
	case Brotli:
		e, err := brrr.NewWriterOptions(w, brotliLevels[l], brrr.WriterOptions{LGWin: brotliWindow})
		if err == nil {
			e.Reset(w) // or Close would give its memory to a pool of the library
		}
		return e, err
	case Zstd:
		return zstd.NewWriter(w, zstd.WithEncoderLevel(zstdLevels[l]), zstd.WithWindowSize(zstdWindow), zstd.WithEncoderConcurrency(1),
			zstd.WithLowerEncoderMem(true), zstd.WithZeroFrames(true))
	default:
		return gzip.NewWriterLevel(w, gzipLevels[l])
	}
}
