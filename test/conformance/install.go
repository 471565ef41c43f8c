package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// The npm release. Its checksum is that of the registry, so nobody else's code runs
// under its name.
const (
	packageName      = "http-cache-tests"
	packageVersion   = "0.4.5"
	packageIntegrity = "sha512-DjuwN9nUZXLTW+wav1LRESCZNVxl8SshwOy4z1pxuWbWt5/ay6sM9QQ1lebBaDO6P1IMBoK6mdf+PuVP/QNL8A=="
)

const installWait = 5 * time.Minute

// errNoSuite says that there is nothing to run: no Node.js, or no copy of the suite and no
// way to the registry.
var errNoSuite = errors.New("the suite is not there")

// haveNode says which program is missing.
func haveNode(programs ...string) error {
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%w: %w", errNoSuite, err)
		}
	}
	return nil
}

// install returns the folder of the npm release, fetched into cache if need be.
func install(ctx context.Context, cache string) (string, error) {
	home := filepath.Join(cache, packageName+"-"+packageVersion)
	dir := filepath.Join(home, "node_modules", packageName)
	if _, err := os.Stat(home); err == nil {
		return dir, genuine(home)
	}
	if err := haveNode("npm"); err != nil {
		return "", err
	}
	// It gets its name when it is whole: an install that was cut off leaves nothing to trust.
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", fmt.Errorf("install the suite: %w", err)
	}
	part, err := os.MkdirTemp(cache, packageName+"-part-")
	if err != nil {
		return "", fmt.Errorf("install the suite: %w", err)
	}
	defer os.RemoveAll(part) //nolint:errcheck // gone if all went well
	if err := fetch(ctx, part); err != nil {
		return "", err
	}
	if err := genuine(part); err != nil {
		return "", err
	}
	if err := os.Rename(part, home); err != nil {
		return "", fmt.Errorf("install the suite: %w", err)
	}
	return dir, nil
}

// fetch has npm install the release in dir, without running anything of it.
func fetch(ctx context.Context, dir string) error {
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"private": true}`+"\n"), 0o644); err != nil {
		return fmt.Errorf("install the suite: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, installWait)
	defer cancel()
	// npm's own pauses between tries would keep somebody without a network waiting for a minute.
	cmd := exec.CommandContext(ctx, "npm", "install", "--prefix", dir, "--ignore-scripts", "--omit=dev", "--no-audit", "--no-fund",
		"--fetch-retries=2", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000", packageName+"@"+packageVersion)
	cmd.WaitDelay = time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: npm install %s@%s: %w\n%s", errNoSuite, packageName, packageVersion, err, out)
	}
	return nil
}

// genuine holds the package that npm installed in home to the checksum we know. npm
// itself holds the content to the checksum it notes.
func genuine(home string) error {
	text, err := os.ReadFile(filepath.Join(home, "node_modules", ".package-lock.json"))
	if err != nil {
		return fmt.Errorf("check the suite: %w", err)
	}
	var lock struct {
		Packages map[string]struct {
			Integrity string `json:"integrity"`
		} `json:"packages"`
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		return fmt.Errorf("check the suite in %s: %w", home, err)
	}
	if got := lock.Packages["node_modules/"+packageName].Integrity; got != packageIntegrity {
		return fmt.Errorf("check the suite in %s: checksum %q, must be %q", home, got, packageIntegrity)
	}
	return nil
}
