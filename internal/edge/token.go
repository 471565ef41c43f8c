package edge

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"edgeproxy/config"
)

const tokenFileKey = "admin.token_file"

// AdminToken returns the token that requests to the admin listener of c need, from its file if it names one; "" for none.
// The error is a config.Errors.
func AdminToken(c *config.Config) (string, error) {
	if c.Admin.TokenFile == "" {
		return string(c.Admin.Token), nil
	}
	token, err := ReadToken(c.Admin.TokenFile)
	if err != nil {
		return "", config.Errors{c.Fault(tokenFileKey, err.Error())}
	}
	return token, nil
}

// tokenFaults checks the token file.
func tokenFaults(c *config.Config) (faults config.Errors) {
	if _, err := AdminToken(c); err != nil {
		errors.As(err, &faults)
	}
	return faults
}

// ReadToken reads a token from a file and trims white space. The error says what is wanted,
// and never quotes the file.
func ReadToken(path string) (string, error) {
	f, err := os.Open(path)
	if err == nil {
		defer func() { _ = f.Close() }() // nothing was written
		var data []byte
		data, err = io.ReadAll(io.LimitReader(f, 4*config.MaxToken))
		if token := strings.TrimSpace(string(data)); err == nil && config.ValidToken(token) {
			return token, nil
		}
	}
	switch p, ok := errors.AsType[*fs.PathError](err); {
	case ok:
		return "", errors.New("want a file with a token: " + p.Err.Error()) // the setting shows the path
	case err != nil:
		return "", errors.New("want a file with a token: " + err.Error())
	}
	return "", errors.New("want a file with a token: one word of ASCII, of 1024 bytes at most")
}
