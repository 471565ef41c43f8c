package peers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Find returns the path of a program that is installed. Debian's daemons are in /usr/sbin, which is not in everybody's path.
func Find(program string) (string, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		other, otherErr := exec.LookPath(filepath.Join("/usr/sbin", program))
		if otherErr != nil {
			return "", err
		}
		path = other
	}
	return filepath.Abs(path)
}

// WriteFile writes a file in a folder, which it makes, and returns its path.
func WriteFile(dir, name, text string) (path string, err error) {
	path = filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("make a folder: %w", err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return "", fmt.Errorf("write a configuration: %w", err)
	}
	return path, nil
}
