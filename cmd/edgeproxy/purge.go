package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"edgeproxy/config"
)

// purgeFlags are the flags of purge.
type purgeFlags struct {
	urls, prefixes, hosts, tags []string
	all, soft                   bool
	admin, tokenFile            string
}

func purgeCommand() *cobra.Command {
	var f purgeFlags
	cmd := &cobra.Command{
		Use:   "purge (--url URL | --prefix PREFIX | --host HOST | --tag TAG | --all) [--soft]",
		Short: "Purge stored responses from a running proxy",
		Long: "Purge stored responses from a running proxy, or with --soft mark them as stale: those\n" +
			"of a URL with all its variants, of URLs with a prefix, of a host, with a tag\n" +
			"(the fields in cache.tag_fields, and Cache-Groups), or all. Responses that are\n" +
			"just being fetched from the origin are not stored either.",
		Example: "  edgeproxy purge --url http://www.example.com/style.css\n" +
			"  edgeproxy purge --tag product-7,product-8 --soft\n" +
			"  edgeproxy purge --prefix http://www.example.com/shop/ --admin 127.0.0.1:9980",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return &usageError{fmt.Errorf("purge: unexpected argument %q: needs --url, --prefix, --host or --tag before it", args[0])}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkAdmin("purge", f.admin); err != nil {
				return err
			}
			order, err := f.order()
			if err != nil {
				return &usageError{err}
			}
			token, err := tokenFor(f.tokenFile)
			if err != nil {
				return &usageError{fmt.Errorf("purge: %w", err)}
			}
			done, err := order.send(cmd.Context(), f.admin, token)
			if err != nil {
				return err
			}
			return done.report(cmd.OutOrStdout(), order)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.urls, "url", nil, "an absolute `URL`; --url, --prefix, --host and --tag may be repeated")
	flags.StringArrayVar(&f.prefixes, "prefix", nil, "a `PREFIX` of absolute URLs with its scheme, such as http://a.example/img/")
	flags.StringArrayVar(&f.hosts, "host", nil, "a `HOST`, with its port if that is not the default one")
	flags.StringArrayVar(&f.tags, "tag", nil, "a `TAG` as the origin sent it, or several with commas between them")
	flags.BoolVar(&f.all, "all", false, "everything")
	flags.BoolVar(&f.soft, "soft", false, "mark as stale instead: the next request revalidates or fetches again")
	flags.StringVar(&f.admin, "admin", config.Default().Admin.Address, "`ADDRESS` or URL of the proxy's admin listener")
	flags.StringVar(&f.tokenFile, "token-file", "", "`FILE` with the admin listener's token (default: the environment variable "+tokenVariable+")")
	return cmd
}

// order returns the purge that the flags describe.
func (f *purgeFlags) order() (purgeOrder, error) {
	o := purgeOrder{soft: f.soft}
	tags, err := splitTags(f.tags)
	if err != nil {
		return o, err
	}
	for _, given := range []struct {
		by     string
		values []string
	}{{"url", f.urls}, {"prefix", f.prefixes}, {"host", f.hosts}, {"tag", tags}} {
		switch {
		case len(given.values) == 0:
			continue
		case o.by != "":
			return o, fmt.Errorf("purge: --%s and --%s: must be one of the two", o.by, given.by)
		}
		o.by, o.values = given.by, given.values
	}
	switch {
	case f.all && o.by != "":
		return o, fmt.Errorf("purge: --all and --%s: must be one of the two", o.by)
	case f.all:
		o.by = purgeAll
	case o.by == "":
		return o, errors.New("purge: needs --url, --prefix, --host, --tag or --all")
	}
	return o, nil
}

// splitTags returns the tags of lists with commas.
func splitTags(lists []string) (tags []string, err error) {
	for _, list := range lists {
		for tag := range strings.SplitSeq(list, ",") {
			if tag = strings.TrimSpace(tag); tag == "" {
				return nil, fmt.Errorf("purge: --tag %q: must be a tag, or tags with one comma between two", list)
			}
			tags = append(tags, tag)
		}
	}
	return tags, nil
}

// report prints the result.
func (d *purgeDone) report(w io.Writer, o purgeOrder) error {
	verb := "purged"
	if o.soft {
		verb = "made stale"
	}
	text := fmt.Sprintf("%s: %s %q", verb, o.by, o.values)
	if o.by == purgeAll {
		text = verb + ": everything"
	}
	if d.Objects != nil {
		text += fmt.Sprintf(" (objects: %d)", *d.Objects)
	}
	if _, err := fmt.Fprintln(w, text); err != nil {
		return fmt.Errorf("purge: done, but the result could not be printed: %w", err)
	}
	return nil
}
