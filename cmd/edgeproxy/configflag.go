package main

import "errors"

// errSecondFile answers a second configuration file on the command line.
var errSecondFile = errors.New("must be one file, which may include others: include: [FILE, FOLDER]")

// configFlag is the value of -c: one file.
type configFlag struct {
	file  *string
	given bool
}

// configTo returns the value of -c that goes to file.
func configTo(file *string) *configFlag { return &configFlag{file: file} }

func (c *configFlag) String() string { return "" } // there is no default to show
func (c *configFlag) Type() string   { return "string" }

// Set refuses a second file: it would be used, and the first one ignored without a word.
func (c *configFlag) Set(file string) error {
	if c.given {
		return errSecondFile
	}
	*c.file, c.given = file, true
	return nil
}
