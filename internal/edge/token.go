package edge

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"edgeproxy/config"
)

const (
	tokenFileKey      = "admin.token_file"
	purgeTokenFileKey = "purge.token_file"
)

// AdminToken returns the token that requests to the admin listener of c need, from its file if it names one; "" for none.
// The error is a config.Errors.
func AdminToken(c *config.Config) (string, error) {
	if c.Admin.TokenFile == "" {
		return string(c.Admin.Token), nil
	}
	return tokenIn(c, tokenFileKey, c.Admin.TokenFile)
}

// purgeToken returns the token that purges on the listeners for clients need; "" for none. The error is a config.Errors.
func purgeToken(c *config.Config) (string, error) {
	if c.Purge.TokenFile == "" {
		return "", nil
	}
	return tokenIn(c, purgeTokenFileKey, c.Purge.TokenFile)
}

// tokenIn reads the token in the file that the setting called key names.
func tokenIn(c *config.Config, key, path string) (string, error) {
	token, err := ReadToken(path)
	if err != nil {
		return "", config.Errors{c.Fault(key, err.Error())}
	}
	return token, nil
}

// tokenFaults checks the files of tokens and of the fleet's secret.
func tokenFaults(c *config.Config) (faults config.Errors) {
	for _, read := range []func(*config.Config) (string, error){AdminToken, purgeToken} {
		var found config.Errors
		if _, err := read(c); errors.As(err, &found) {
			faults = append(faults, found...)
		}
	}
	var found config.Errors
	if _, err := fleetSecret(c); errors.As(err, &found) {
		faults = append(faults, found...)
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
		return "", errors.New("must be a file with a token: " + p.Err.Error()) // the setting shows the path
	case err != nil:
		return "", errors.New("must be a file with a token: " + err.Error())
	}
	return "", errors.New("must be a file with a token: one word of ASCII, of 1024 bytes at most")
}
