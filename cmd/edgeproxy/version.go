package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is set by the linker for a release: -X main.version=1.2.3.
var version = ""

// versionName is the release, or the commit it was built from, or "devel".
func versionName() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "devel-" + s.Value[:12]
		}
	}
	return "devel"
}

func versionLine() string {
	return fmt.Sprintf("edgeproxy %s %s %s/%s", versionName(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
