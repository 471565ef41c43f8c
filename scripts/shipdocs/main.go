// Command shipdocs makes the links of documents fit a folder that has only a part of the tree.
//
//	go run ./scripts/shipdocs FOLDER
//
// A link to a file that FOLDER does not have becomes its text, with the path in the source behind it.
package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		_, _ = fmt.Fprintln(os.Stderr, "usage: shipdocs FOLDER")
		os.Exit(2)
	}
	if err := ship(os.Args[1]); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "shipdocs:", err)
		os.Exit(1)
	}
}

// ship rewrites the documents below folder.
func ship(folder string) error {
	return filepath.WalkDir(folder, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(file) != ".md" {
			return err
		}
		b, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, file)
		if err != nil {
			return err
		}
		text := fitted(string(b), filepath.ToSlash(name), func(target string) bool {
			_, err := os.Stat(filepath.Join(folder, filepath.FromSlash(target)))
			return err == nil
		})
		return os.WriteFile(file, []byte(text), 0o644)
	})
}

var (
	link  = regexp.MustCompile(`!?\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^)\s]+)\)`)
	fence = regexp.MustCompile("(?ms)^```.*?^```")
)

// fitted returns the document that is called name, from the top of the folder. Fenced blocks stay as they are.
func fitted(text, name string, there func(target string) bool) string {
	var b strings.Builder
	from := 0
	for _, block := range fence.FindAllStringIndex(text, -1) {
		b.WriteString(unlinked(text[from:block[0]], name, there))
		b.WriteString(text[block[0]:block[1]])
		from = block[1]
	}
	b.WriteString(unlinked(text[from:], name, there))
	return b.String()
}

// unlinked returns text without its links to files that are not there.
func unlinked(text, name string, there func(target string) bool) string {
	return link.ReplaceAllStringFunc(text, func(whole string) string {
		m := link.FindStringSubmatch(whole)
		words := m[1]
		file, _, _ := strings.Cut(m[2], "#")
		if file == "" || strings.Contains(file, ":") {
			return whole // to this document, or of the web
		}
		target := path.Join(path.Dir(name), file)
		if there(target) {
			return whole
		}
		if strings.TrimSuffix(words, "/") == target {
			return words
		}
		return words + " (" + target + " in the source)"
	})
}
