package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"

	"edgeproxy/config"
	"edgeproxy/internal/edge"
	"edgeproxy/internal/ops/admin"
)

// tokenVariable is the environment variable with the token for commands that call the admin
// listener. A flag that names a file goes before it.
const tokenVariable = "EDGEPROXY_ADMIN_TOKEN"

// maxAnswer bounds what is read of an admin listener's answer. The answer to a purge repeats the
// request; a status has about a kilobyte for each route.
const maxAnswer = 64 << 20

// checkAdmin returns a usageError of the command if address is none of an admin listener.
func checkAdmin(command, address string) error {
	if err := admin.CheckAddress(address); err != nil {
		return &usageError{fmt.Errorf("%s: --admin %s: %w", command, address, err)}
	}
	return nil
}

// post sends a POST to the admin listener at address, with the token if there is one.
func post(ctx context.Context, address, path, token string, body []byte) (status int, text []byte, err error) {
	return call(ctx, address, http.MethodPost, path, token, body)
}

// call is post with any method.
func call(ctx context.Context, address, method, path, token string, body []byte) (status int, text []byte, err error) {
	res, err := ask(ctx, address, method, path, token, body)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = res.Body.Close() }()
	if text, err = io.ReadAll(io.LimitReader(res.Body, maxAnswer)); err != nil {
		return 0, nil, fmt.Errorf("%s: read the answer: %w", address, err)
	}
	return res.StatusCode, text, nil
}

// ask is call for a streamed answer. The caller closes its body.
func ask(ctx context.Context, address, method, path, token string, body []byte) (*http.Response, error) {
	res, err := admin.Ask(ctx, address, method, path, token, body)
	if errors.Is(err, admin.ErrAddress) {
		return nil, &usageError{fmt.Errorf("--admin %w", err)}
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return nil, fmt.Errorf("%s: it does not speak https; needs http:// before the host", address)
	}
	if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" {
		return nil, &notReachedError{fmt.Errorf("%s: %w; is the proxy running, and is this its admin.address?", address, dial.Err)}
	}
	return res, err
}

// notReachedError says that there was no connection, so the proxy was asked nothing.
type notReachedError struct{ err error }

func (e *notReachedError) Error() string { return e.err.Error() }
func (e *notReachedError) Unwrap() error { return e.err }

// notOurs says that something has answered that is no admin listener, or one whose documents have another form.
const notOurs = "not the answer of an admin listener of this version; is this admin.address?"

// refusalOf decodes an error answer to a request for path. Without an error text of ours, something other than an admin listener has answered.
func refusalOf(address, path string, status int, text []byte) (r edge.Refusal) {
	_ = json.Unmarshal(text, &r)
	switch {
	case r.Error == "":
		r.Error = fmt.Sprintf("%s: %d %s: %s", address, status, http.StatusText(status), notOurs)
	case status == http.StatusUnauthorized && !strings.Contains(r.Error, "is not the admin token"):
		r.Error = fmt.Sprintf("%s: needs the admin token: set %s or give --token-file", address, tokenVariable)
	case status == http.StatusNotFound:
		r.Error = fmt.Sprintf("%s: it has no %s: %s", address, path, whyMissing(path))
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		r.Error = address + ": " + r.Error
	}
	return r
}

// whyMissing returns why a listener may not have a path that this program asks for.
func whyMissing(path string) string {
	if strings.HasPrefix(path, "/cache/") {
		return "the proxy has no disk tier (cache.disk.path)"
	}
	return "it is metrics.address and not admin.address, or the proxy has another version than this program"
}

// tokenFor returns the token that a command sends, from the file that a flag names or from
// the environment; "" for none.
func tokenFor(path string) (string, error) {
	if path != "" {
		token, err := edge.ReadToken(path)
		if err != nil {
			err = fmt.Errorf("--token-file %s: %w", path, err)
		}
		return token, err
	}
	token := strings.TrimSpace(os.Getenv(tokenVariable))
	if token != "" && !config.ValidToken(token) {
		return "", errors.New(tokenVariable + ": must be a token: one word of ASCII, of 1024 bytes at most")
	}
	return token, nil
}
