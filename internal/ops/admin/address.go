package admin

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// socketPrefix begins the address of a Unix domain socket.
const socketPrefix = "unix:"

// ErrAddress is what CheckAddress and Ask return, wrapped, for what is no address. The text of the error says what is wanted.
var ErrAddress = errors.New("no address of an admin listener")

// addressError is an ErrAddress with its own text.
type addressError struct{ want string }

func (e *addressError) Error() string        { return e.want }
func (e *addressError) Is(target error) bool { return target == ErrAddress }

// wantAddress is the text for what has none of the forms.
const wantAddress = "must be HOST:PORT, http://HOST:PORT, https://HOST:PORT or unix:PATH"

// CheckAddress returns nil if Ask can use the address: HOST:PORT, an http or https URL without a path, or unix:PATH. Its error
// says what is wanted instead, and does not repeat the address.
func CheckAddress(address string) error {
	_, _, err := target(address)
	return err
}

// target returns the URL that the paths of the listener at address are appended to, and the path of its socket, "" for none.
func target(address string) (base, socket string, err error) {
	if path, ok := strings.CutPrefix(address, socketPrefix); ok {
		if path == "" {
			return "", "", &addressError{"must be the path of a socket behind unix:"}
		}
		return "http://localhost", path, nil
	}
	if strings.Contains(address, "://") {
		base, err = baseOf(address)
		return base, "", err
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil || port == "" || strings.ContainsAny(address, "/ ?#@") {
		return "", "", &addressError{wantAddress}
	}
	if strings.HasPrefix(address, ":") { // every address, in a configuration
		address = "localhost" + address
	}
	if _, err := url.Parse("http://" + address); err != nil {
		return "", "", &addressError{wantAddress}
	}
	return "http://" + address, "", nil
}

// baseOf returns the scheme and host of a URL that has nothing else.
func baseOf(address string) (string, error) {
	scheme, _, _ := strings.Cut(address, "://")
	u, err := url.Parse(address)
	switch {
	case !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https"):
		return "", &addressError{fmt.Sprintf("unknown scheme %q: %s", scheme, wantAddress)}
	case err != nil || u.Hostname() == "":
		return "", &addressError{wantAddress}
	case u.User != nil:
		return "", &addressError{"must have no user in the URL: the token comes from a file or the environment"}
	case u.Path != "" && u.Path != "/":
		return "", &addressError{fmt.Sprintf("must have no path behind the host: %s://%s", u.Scheme, u.Host)}
	case strings.ContainsAny(address, "?#"):
		return "", &addressError{fmt.Sprintf("must be nothing behind the host: %s://%s", u.Scheme, u.Host)}
	}
	return u.Scheme + "://" + u.Host, nil
}
