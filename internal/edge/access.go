package edge

import (
	"errors"
	"io/fs"
	"os"

	"edgeproxy/config"
	"edgeproxy/internal/proxy"
	"edgeproxy/internal/route/basicauth"
)

// accessOf returns who may use a route. read caches users files by path across routes. If a file can be read,
// the error joins a *basicauth.LineError for each bad line.
func accessOf(a *config.Access, read map[string]*basicauth.Users) (proxy.Access, error) {
	out := proxy.Access{Allow: a.Allow, Deny: a.Deny}
	if a.BasicAuth.UsersFile == "" {
		return out, nil
	}
	path := a.BasicAuth.UsersFile
	if read[path] == nil {
		users, err := readUsers(path)
		if err != nil {
			return out, err
		}
		read[path] = users
	}
	out.Users, out.Realm = read[path], a.BasicAuth.Realm
	return out, nil
}

func readUsers(path string) (*basicauth.Users, error) {
	data, err := readRegular(path) // its bound is above basicauth's, which rejects a longer file
	if err != nil {
		return nil, err
	}
	return basicauth.Parse(data)
}

// maxFaultsOfFile bounds the lines of one users file that are reported.
const maxFaultsOfFile = 10

// accessFaults checks the users files.
func accessFaults(c *config.Config) (faults config.Errors) {
	checked := map[string]error{} // errors by file: routes that inherit one have it in common
	for i := range c.Routes {
		path := c.Routes[i].Access.BasicAuth.UsersFile
		if path == "" {
			continue
		}
		at := c.Given(c.Routes[i].Path()+".access.basic_auth.users_file", "access.basic_auth.users_file")
		err, known := checked[path]
		if !known {
			_, err = readUsers(path)
			checked[path] = err
		}
		lines := config.Joined[*basicauth.LineError](err)
		for _, e := range lines[:min(len(lines), maxFaultsOfFile)] {
			faults = append(faults, c.Fault(at, e.Error()))
		}
		if err != nil && len(lines) == 0 {
			if p, ok := errors.AsType[*fs.PathError](err); ok {
				err = p.Err // the setting shows the path
			}
			faults = append(faults, c.Fault(at, "must be a file of users: "+err.Error()))
		}
	}
	return faults.Unique()
}

// accessWarnings warns of users files that everybody can read.
func accessWarnings(c *config.Config) (out []config.Warning) {
	const top = "access.basic_auth.users_file"
	warned := map[string]bool{}
	for i := range c.Routes {
		path := c.Routes[i].Access.BasicAuth.UsersFile
		if path == "" {
			continue
		}
		at := c.Given(c.Routes[i].Path()+"."+top, top)
		if warned[at] {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o004 != 0 {
			warned[at] = true
			out = append(out, c.Warn(at, "everybody on this machine can read the password hashes and try to crack them: must have mode 0600 or 0640"))
		}
	}
	return out
}
