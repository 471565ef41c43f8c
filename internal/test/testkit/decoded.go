package testkit

import (
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/molecule-man/go-brrr"
)

// Decoded returns content without its coding, "" for none. A body that ends before its coding does is an error.
func Decoded(coding, content string) (string, error) {
	r, err := Decoder(coding, strings.NewReader(content))
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(r)
	return string(text), err
}

// Decoder reads the content that from has in a coding, as it comes.
func Decoder(coding string, from io.Reader) (io.Reader, error) {
	switch coding {
	case "":
		return from, nil
	case "gzip":
		return gzip.NewReader(from)
	case "br":
		return brrr.NewReader(from), nil
	case "zstd":
		d, err := zstd.NewReader(from, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}
	return nil, fmt.Errorf("unknown coding %q", coding)
}
