package main

import "errors"

// The names of nginx's files in its folder.
const (
	nginxFile  = "nginx.conf"
	nginxLog   = "access.log"
	nginxMarks = "marks"
	nginxTemp  = "temp"
)

// prepareNginx makes the folders of one nginx, home below files, and writes the
// configuration. With an error nothing is left of them.
func prepareNginx(files string, c nginxConfig) (folders, error) {
	f, err := makeFolders("nginx", files, c.memory, nginxMarks, nginxTemp)
	if err == nil {
		c.cache = f.cache
		err = f.write(map[string]string{nginxFile: string(c.text())})
	}
	if err != nil {
		err = errors.Join(err, f.Close())
	}
	return f, err
}
