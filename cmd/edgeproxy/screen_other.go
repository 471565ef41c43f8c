//go:build !unix

package main

import "os"

func terminalSize(*os.File) windowSize { return windowSize{} }
