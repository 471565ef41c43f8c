package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"edgeproxy/config"
)

const (
	tokenFileKey = "admin.token_file"
	// tokenVariable is the environment variable with the token for commands that call the admin
	// listener. A flag that names a file goes before it.
	tokenVariable = "EDGEPROXY_ADMIN_TOKEN"
)

// adminToken returns the token that requests to the admin listener need; "" for none.
// The error is a config.Errors.
func adminToken(c *config.Config) (string, error) {
	if c.Admin.TokenFile == "" {
		return string(c.Admin.Token), nil
	}
	token, err := readToken(c.Admin.TokenFile)
	if err != nil {
		return "", config.Errors{c.Fault(tokenFileKey, err.Error())}
	}
	return token, nil
}

// tokenFaults checks the token file.
func tokenFaults(c *config.Config) (faults config.Errors) {
	if _, err := adminToken(c); err != nil {
		errors.As(err, &faults)
	}
	return faults
}

// warnings returns the warnings of c itself, and those about files and about origins that are this proxy.
func warnings(c *config.Config) []config.Warning {
	out := slices.Concat(c.Warnings(), loopWarnings(c), accessWarnings(c), certificateWarnings(c, time.Now()))
	if path := c.Admin.TokenFile; path != "" {
		if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o004 != 0 {
			out = append(out, c.Warn(tokenFileKey, "everybody on this machine can read the token and purge with it: want mode 0600 or 0640"))
		}
	}
	return out
}

// readToken reads a token from a file and trims white space. The error says what is wanted,
// and never quotes the file.
func readToken(path string) (string, error) {
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

// tokenFor returns the token that a command sends, from the file that a flag names or from
// the environment; "" for none.
func tokenFor(path string) (string, error) {
	if path != "" {
		token, err := readToken(path)
		if err != nil {
			err = fmt.Errorf("--token-file %s: %w", path, err)
		}
		return token, err
	}
	token := strings.TrimSpace(os.Getenv(tokenVariable))
	if token != "" && !config.ValidToken(token) {
		return "", errors.New(tokenVariable + ": want a token: one word of ASCII, of 1024 bytes at most")
	}
	return token, nil
}
