package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version and commit are set by the linker for a release: -X main.version=1.2.3 -X main.commit=6c555b1b13d0.
var version, commit = "", ""

// shortCommit is the length of a shown commit hash.
const shortCommit = 12

// versionName returns the release, or else "devel" with the commit if it is known.
func versionName() string {
	if version != "" {
		return version
	}
	if c := commitName(); c != "" {
		return "devel-" + c
	}
	return "devel"
}

// commitName returns the commit that the program was built from, "" if it is unknown.
func commitName() string {
	if commit != "" {
		return commit
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= shortCommit {
			return s.Value[:shortCommit]
		}
	}
	return ""
}

func versionLine() string {
	from := ""
	if c := commitName(); c != "" && version != "" {
		from = " commit " + c
	}
	return fmt.Sprintf("edgeproxy %s%s %s %s/%s", versionName(), from, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
