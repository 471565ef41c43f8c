package main

import "errors"

// The names of nginx's files in its folder.
const (
	nginxFile  = "nginx.conf"
	nginxLog   = "access.log"
	nginxMarks = "marks"
	nginxTemp  = "temp"
)

// prepareNginx creates the folders of one nginx, home below files, and writes the
// configuration. After an error it leaves nothing behind.
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
