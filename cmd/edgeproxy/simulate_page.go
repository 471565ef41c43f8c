package main

import (
	"fmt"
	"os"

	"edgeproxy/internal/page"
)

// writePage writes p to the file at path.
func writePage(path string, p *page.Page) error {
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	if err := p.Write(file); err != nil {
		_ = file.Close() // the first fault is the one to tell
		return err
	}
	if err := file.Close(); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}
