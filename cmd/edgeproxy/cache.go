package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"edgeproxy/config"
	"edgeproxy/internal/cache/statefile"
	"edgeproxy/internal/edge"
)

// cacheFlags say which disk tier to use, and how to print.
type cacheFlags struct {
	file, dir        string
	admin, tokenFile string
	json             bool
}

// diskTier is the disk tier of a stopped proxy (its directories) or of a running one (its admin listener).
type diskTier interface {
	// stats returns a document that encoding/json can encode.
	stats(ctx context.Context) (any, error)
	// statsText returns totals for people. Those of a running proxy are of its memory and window, too.
	statsText(ctx context.Context) (string, error)
	// objects calls show for every stored object, in no order.
	objects(ctx context.Context, show func(edge.Object) error) error
	// verify reads and checks every record, and calls show for each damaged one.
	verify(ctx context.Context, show func(edge.Damage) error) (edge.Verified, error)
	// drop removes what is stored under the URLs, or everything if there are none. It returns a line for the user.
	drop(ctx context.Context, urls []string) (string, error)
	close()
}

func cacheCommand() *cobra.Command {
	var f cacheFlags
	cmd := &cobra.Command{
		Use:   "cache stats|ls|verify|drop [-c FILE | --dir DIR]",
		Short: "Inspect and verify the disk tier, and remove objects from it",
		Long: "Inspect and verify the disk tier, and remove objects from it. With -c or --dir the\n" +
			"command opens the directory itself, if no proxy runs on it. If one does, and without\n" +
			"-c and --dir, the command asks the admin listener.",
		Example: "  edgeproxy cache ls -c /etc/edgeproxy.yaml\n" +
			"  edgeproxy cache verify --dir /var/cache/edgeproxy\n" +
			"  edgeproxy cache drop http://www.example.com/style.css\n" +
			"  edgeproxy cache stats --admin unix:/run/edgeproxy/admin.sock --json",
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			return &usageError{errors.New("cache needs one of stats, ls, verify and drop")}
		},
	}
	flags := cmd.PersistentFlags()
	flags.VarP(configTo(&f.file), "config", "c", "configuration `FILE` with cache.disk.path")
	flags.StringVar(&f.dir, "dir", "", "the `DIR` of the disk tier, in place of a file")
	flags.StringVar(&f.admin, "admin", "", "`ADDRESS` or URL of the proxy's admin listener (default that of the file, or "+config.Default().Admin.Address+")")
	flags.StringVar(&f.tokenFile, "token-file", "", "`FILE` with the admin listener's token (default: the environment variable "+tokenVariable+")")
	flags.BoolVar(&f.json, "json", false, "print JSON, one value a line")
	cmd.AddCommand(f.statsCommand(), f.listCommand(), f.verifyCommand(), f.dropCommand())
	return cmd
}

// run opens the disk tier that f selects, for one step.
func (f *cacheFlags) run(cmd *cobra.Command, step func(ctx context.Context, t diskTier, out io.Writer) error) error {
	t, err := f.open()
	if err != nil {
		return err
	}
	defer t.close()
	if err := step(cmd.Context(), t, cmd.OutOrStdout()); err != nil {
		return fmt.Errorf("cache %s: %w", cmd.Name(), err)
	}
	return nil
}

// open opens the directories, or returns the running proxy if one uses them.
func (f *cacheFlags) open() (diskTier, error) {
	dirs, address, token := []string(nil), config.Default().Admin.Address, ""
	if f.file != "" {
		c, err := config.Load(f.file)
		if err != nil {
			return nil, asConfigError(err)
		}
		if dirs = c.Cache.Disk.Paths; len(dirs) == 0 && f.dir == "" {
			return nil, &usageError{fmt.Errorf("cache: %s has no cache.disk.path", f.file)}
		}
		address = c.Admin.Address
		if token, err = edge.AdminToken(c); err != nil {
			return nil, err
		}
	}
	if f.dir != "" {
		dirs = []string{f.dir}
	}
	if len(dirs) > 0 && f.admin == "" {
		t, err := openStopped(dirs)
		if !errors.Is(err, statefile.ErrInUse) {
			return t, err
		}
	}
	return f.running(dirs, cmp.Or(f.admin, address), token)
}

// running returns the disk tier of the proxy at address. token comes from the configuration file; a token from
// the flag or the environment goes before it.
func (f *cacheFlags) running(dirs []string, address, token string) (diskTier, error) {
	if err := checkAdmin("cache", address); err != nil {
		return nil, err
	}
	given, err := tokenFor(f.tokenFile)
	if err != nil {
		return nil, &usageError{fmt.Errorf("cache: %w", err)}
	}
	return &runningTier{address: address, token: cmp.Or(given, token), dirs: dirs}, nil
}

func (f *cacheFlags) statsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "stats", Short: "Print totals of the tiers and the window, or of the disk tier of a stopped proxy", Args: noArguments,
		Long: "Print totals: objects and bytes of each tier, hit ratio, evictions, the directories of the disk\n" +
			"tier and the window with the fill of its filters. Of a stopped proxy only the disk tier is known.\n" +
			"--json prints the document of the disk tier alone.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd, func(ctx context.Context, t diskTier, out io.Writer) error {
				if f.json {
					s, err := t.stats(ctx)
					if err != nil {
						return err
					}
					return printJSON(out, s)
				}
				text, err := t.statsText(ctx)
				if err != nil {
					return err
				}
				_, err = io.WriteString(out, text)
				return err
			})
		},
	}
}

func (f *cacheFlags) listCommand() *cobra.Command {
	return &cobra.Command{
		Use: "ls", Short: "Print what is stored, a line each: status, bytes of the body, age, freshness, URL", Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd, func(ctx context.Context, t diskTier, out io.Writer) error {
				now := time.Now()
				return t.objects(ctx, func(o edge.Object) error {
					if f.json {
						return printJSON(out, o)
					}
					_, err := fmt.Fprintln(out, objectLine(&o, now))
					return err
				})
			})
		},
	}
}

func (f *cacheFlags) verifyCommand() *cobra.Command {
	return &cobra.Command{
		Use: "verify", Short: "Read and check all that is stored; exit code 1 if something is damaged", Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd, func(ctx context.Context, t diskTier, out io.Writer) error {
				all, err := t.verify(ctx, func(d edge.Damage) error {
					if f.json {
						return printJSON(out, d)
					}
					_, err := fmt.Fprintf(out, "%s: offset %d: %s\n", d.File, d.Offset, d.Error)
					return err
				})
				if err != nil {
					return err
				}
				if f.json {
					err = printJSON(out, all)
				} else {
					_, err = fmt.Fprintf(out, "records: %d, bytes: %d, damaged: %d\n", all.Records, all.Bytes, all.Damaged)
				}
				if err == nil && all.Damaged > 0 {
					err = errors.New("damaged records were found; they are never served, and are fetched again")
				}
				return err
			})
		},
	}
}

func (f *cacheFlags) dropCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "drop URL… | --all", Short: "Remove what is stored under URLs, with all variants, or everything; with a running proxy this is a purge",
		RunE: func(cmd *cobra.Command, urls []string) error {
			if all == (len(urls) > 0) {
				return &usageError{errors.New("cache drop: needs URLs, or --all")}
			}
			return f.run(cmd, func(ctx context.Context, t diskTier, out io.Writer) error {
				done, err := t.drop(ctx, urls)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintln(out, done)
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "everything")
	return cmd
}

func printJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
