package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"edgeproxy/internal/lab/process"
)

const (
	nginxInactive = 24 * time.Hour        // proxy_cache_path inactive=
	paceManager   = 10 * time.Millisecond // interval of the manager's checks, see pacemaker
	// Between two checks the cache may exceed its size by the share nginxSlack. If it exceeds
	// that at more than the share nginxSeldom of the writes, the report warns.
	nginxSlack  = 0.1
	nginxSeldom = 0.1
)

// writeCounts counts the files that a proxy stored in a folder and removed. Bytes are
// of bodies.
type writeCounts struct {
	writes, bytes, evictions int64
	over                     int64 // writes after which it held more than the limit
	most                     int64 // largest number of bytes it held
}

// nginx is one nginx with its processes. Requests are counted by its access log, and
// writes by a watch on its cache folder, because nginx itself counts neither.
type nginx struct {
	*process.Process
	listen  string
	folders folders
	access  *accessLog
	writes  *writeWatch
	pace    *pacemaker
	origin  *origin
	max     int64       // bytes of the cache
	stored  writeCounts // at the last scrape
}

// startNginx starts the program with c on free ports. It returns when the size limit of
// its cache is enforced. Its files are in a new folder below files.
func startNginx(ctx context.Context, program, files string, c nginxConfig, o *origin) (*nginx, error) {
	c.origin = o.addr
	return process.OnFreePorts(func(listen, admin string) (*nginx, error) {
		c.listen, c.admin = listen, admin
		folders, err := makeFolders("nginx", files, c.memory)
		if err != nil {
			return nil, err
		}
		c.cache = folders.cache
		n := &nginx{listen: listen, folders: folders, origin: o, max: c.maxBytes}
		limit := int64((1 + nginxSlack) * float64(c.maxBytes))
		marks := folders.path("marks")
		if err = os.Mkdir(marks, 0o700); err == nil {
			n.writes, err = watchWrites(folders.cache, marks, o.objects, limit)
		}
		if err != nil {
			return nil, errors.Join(err, folders.Close())
		}
		if n.Process, err = c.peer(program, folders.home).Start(); err != nil {
			return nil, errors.Join(err, n.writes.Close(), folders.Close())
		}
		return n, n.begin(ctx, admin)
	})
}

func (n *nginx) begin(ctx context.Context, admin string) (err error) {
	if err := n.AwaitListener(ctx, admin); err != nil {
		return err
	}
	if n.access, err = openAccessLog(n.folders.path("access.log"), (*counts).addNginxLine); err != nil {
		return err
	}
	ctx, stop := n.Watch(ctx)
	defer stop()
	ctx, cancel := context.WithTimeoutCause(ctx, paceStart, errors.New("its cache manager does not work"))
	defer cancel()
	if n.pace, err = startPacemaker(ctx, n.Process, admin); err != nil {
		return fmt.Errorf("start nginx: %w\n%s", errors.Join(err, context.Cause(ctx)), n.Log())
	}
	return nil
}

func (n *nginx) address() string { return n.listen }

// Close ends nginx and everything that watches it, and removes its files.
func (n *nginx) Close() error {
	var errs []error
	if n.pace != nil {
		errs = append(errs, n.pace.Close())
	}
	errs = append(errs, n.Process.Close(), n.writes.Close())
	if n.access != nil {
		errs = append(errs, n.access.Close())
	}
	return errors.Join(append(errs, n.folders.Close())...)
}

// scrape returns the counts. A fetch that was not written was held back, unless it
// was larger than the run stores.
func (n *nginx) scrape(ctx context.Context) (counts, error) {
	ctx, cancel := context.WithTimeout(ctx, scrapeTimeout)
	defer cancel()
	c, err := n.access.read()
	if err != nil {
		return counts{}, err
	}
	w, err := n.writes.counts(ctx)
	if err != nil {
		return counts{}, err
	}
	n.stored = w
	c.writes, c.writeBytes, c.evictions = w.writes, w.bytes, w.evictions
	c.heldBack = c.originRequests - c.writes - n.origin.oversized.Load()
	c.heldBackBytes = c.originBytes - c.writeBytes - n.origin.oversizedBytes.Load()
	return c, nil
}

// doubts says how often the cache was larger than its limit.
func (n *nginx) doubts() (out []string) {
	if over := ratio(n.stored.over, n.stored.writes); over > nginxSeldom {
		out = append(out, fmt.Sprintf("its cache manager did not keep up: at %s of its writes the cache was more than %s over its max_size of %s, at worst %s",
			percent(over), percent(nginxSlack), size(n.max), size(n.stored.most)))
	}
	return out
}
