package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"edgeproxy/config"
)

func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages of all commands and of the configuration file into a folder",
		Long: "Write the manual pages into a folder, which is created if needed: edgeproxy.1 and one\n" +
			"for each command, made from what --help says, and edgeproxy.yaml.5 with every setting.",
		Example: "  edgeproxy man /usr/local/share/man/man1",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return &usageError{errors.New("man needs the DIR for the pages, and nothing else")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fmt.Errorf("man: %w", err)
			}
			if err := os.WriteFile(filepath.Join(args[0], "edgeproxy.yaml.5"), []byte(filePage()), 0o644); err != nil {
				return fmt.Errorf("man: %w", err)
			}
			return writePages(cmd.Root(), args[0])
		},
	}
}

// writePages writes the pages of c and of its subcommands.
func writePages(c *cobra.Command, dir string) error {
	c.InitDefaultHelpFlag()
	name := filepath.Join(dir, strings.ReplaceAll(c.CommandPath(), " ", "-")+".1")
	if err := os.WriteFile(name, []byte(manPage(c)), 0o644); err != nil {
		return fmt.Errorf("man: %w", err)
	}
	for _, sub := range c.Commands() {
		if !sub.IsAvailableCommand() || sub.Name() == "help" {
			continue
		}
		if err := writePages(sub, dir); err != nil {
			return err
		}
	}
	return nil
}

// manPage returns the manual page of c in the language of man(7).
func manPage(c *cobra.Command) string {
	var b strings.Builder
	name := strings.ReplaceAll(c.CommandPath(), " ", "-")
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"edgeproxy %s\" \"User Commands\"\n", roff(strings.ToUpper(name)), roff(versionName()))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(c.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(c.UseLine()))
	long := c.Long
	if long == "" {
		long = c.Short + "."
	}
	section(&b, "DESCRIPTION", long)
	section(&b, "COMMANDS", commandList(c))
	section(&b, "OPTIONS", strings.TrimRight(c.LocalFlags().FlagUsages(), "\n"))
	section(&b, "EXAMPLES", c.Example)
	section(&b, "EXIT STATUS", "0  done, also after a drain\n1  failed while running\n2  bad usage or bad configuration")
	section(&b, "SEE ALSO", seeAlso(c))
	return b.String()
}

// filePage returns the manual page of the configuration file.
func filePage() string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH EDGEPROXY.YAML 5 \"\" \"edgeproxy %s\" \"File Formats\"\n", roff(versionName()))
	fmt.Fprintf(&b, ".SH NAME\nedgeproxy.yaml \\- %s\n", roff("the configuration file of edgeproxy"))
	section(&b, "DESCRIPTION", "The file is YAML. Only origins has to be there. Sizes take B, KB, KiB, MB, MiB, GB and\n"+
		"GiB; durations need a unit (ms, s, m, h, d, w). ${VAR} and ${VAR:-default} are expanded\n"+
		"in values. An unknown key is an error. edgeproxy check -c FILE reports all mistakes.")
	section(&b, "SETTINGS", strings.TrimRight(config.Reference(), "\n"))
	section(&b, "FILES", "/etc/edgeproxy/edgeproxy.yaml")
	section(&b, "SEE ALSO", "edgeproxy(1), edgeproxy-check(1), edgeproxy-config(1)\n/usr/share/doc/edgeproxy/docs/settings.md")
	return b.String()
}

// section writes a section with unfilled lines. It writes nothing if text is empty.
func section(b *strings.Builder, title, text string) {
	if text == "" {
		return
	}
	fmt.Fprintf(b, ".SH %s\n.nf\n", title)
	for line := range strings.SplitSeq(text, "\n") {
		b.WriteString(roff(line) + "\n")
	}
	b.WriteString(".fi\n")
}

func commandList(c *cobra.Command) string {
	var lines []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" {
			lines = append(lines, fmt.Sprintf("%-10s %s", sub.Name(), sub.Short))
		}
	}
	return strings.Join(lines, "\n")
}

func seeAlso(c *cobra.Command) string {
	if c.HasParent() {
		return strings.ReplaceAll(c.Parent().CommandPath(), " ", "-") + "(1)"
	}
	return "edgeproxy.yaml(5), /usr/share/doc/edgeproxy/docs/operating.md and settings.md"
}

// roff escapes text for roff.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	var b strings.Builder
	for _, r := range text {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\[u%04X]`, r)
		}
	}
	return b.String()
}
