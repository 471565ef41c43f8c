// Image makes an archive for docker load out of a folder with a Dockerfile, without an engine: the image that docker build would make. It knows
// the instructions that images from scratch need. All files have the time of -epoch, so the same folder makes the same bytes.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

func main() {
	target := flag.String("target", "", "the stage of the Dockerfile")
	tag := flag.String("tag", "", "the name of the image, such as edgeproxy:1.2.3")
	arch := flag.String("arch", "amd64", "the architecture of its programs")
	epoch := flag.Int64("epoch", 0, "the time of all files, in seconds since 1970")
	flag.Parse()
	if flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "usage: image -target STAGE -tag NAME [-arch ARCH] [-epoch SECONDS] FOLDER OUT.tar.gz")
		os.Exit(2)
	}
	if err := write(flag.Arg(0), flag.Arg(1), *target, *tag, *arch, time.Unix(*epoch, 0).UTC()); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

// write makes the archive out of a folder.
func write(folder, out, target, tag, arch string, at time.Time) error {
	b := builder{folder: folder, at: at}
	b.config.Architecture, b.config.OS, b.config.Created = arch, "linux", v1.Time{Time: at}
	text, err := os.ReadFile(filepath.Join(folder, "Dockerfile"))
	if err != nil {
		return err
	}
	if err := b.stage(string(text), target); err != nil {
		return fmt.Errorf("Dockerfile: %w", err)
	}
	image, err := b.image()
	if err != nil {
		return err
	}
	ref, err := name.NewTag(tag)
	if err != nil {
		return err
	}
	file, err := os.Create(out)
	if err != nil {
		return err
	}
	z, err := gzip.NewWriterLevel(file, gzip.BestCompression)
	if err != nil {
		return err
	}
	if err := tarball.Write(ref, image, z); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return file.Close()
}

// builder makes an image of one layer from the instructions of one stage.
type builder struct {
	folder string
	at     time.Time
	config v1.ConfigFile
	files  bytes.Buffer
	tar    *tar.Writer
	made   map[string]bool // folders in the layer
}

// stage follows the instructions of a stage.
func (b *builder) stage(text, target string) error {
	b.tar, b.made = tar.NewWriter(&b.files), map[string]bool{}
	within, found := false, false
	for n, line := range strings.Split(text, "\n") {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case word == "" || strings.HasPrefix(word, "#"):
			continue
		case word == "FROM":
			within = rest == "scratch AS "+target
			found = found || within
			continue
		case !within:
			continue
		}
		if err := b.instruction(word, rest); err != nil {
			return fmt.Errorf("line %d: %s: %w", n+1, line, err)
		}
	}
	if !found {
		return fmt.Errorf("no line FROM scratch AS %s", target)
	}
	return b.tar.Close()
}

// instruction follows one line.
func (b *builder) instruction(word, rest string) (err error) {
	c := &b.config.Config
	switch word {
	case "COPY":
		return b.copy(strings.Fields(rest))
	case "USER":
		c.User = rest
	case "EXPOSE":
		c.ExposedPorts = map[string]struct{}{}
		for port := range strings.FieldsSeq(rest) {
			if strings.Contains(port, "/") {
				return fmt.Errorf("must be a port of TCP, without /")
			}
			c.ExposedPorts[port+"/tcp"] = struct{}{}
		}
	case "VOLUME":
		var all []string
		err = json.Unmarshal([]byte(rest), &all)
		c.Volumes = map[string]struct{}{}
		for _, path := range all {
			c.Volumes[path] = struct{}{}
		}
	case "STOPSIGNAL":
		c.StopSignal = rest
	case "HEALTHCHECK":
		return b.health(rest)
	case "ENTRYPOINT":
		err = json.Unmarshal([]byte(rest), &c.Entrypoint)
	case "CMD":
		err = json.Unmarshal([]byte(rest), &c.Cmd)
	default:
		err = fmt.Errorf("must be an instruction that this program knows")
	}
	return err
}

// health reads the words of HEALTHCHECK.
func (b *builder) health(text string) error {
	h := &v1.HealthConfig{Test: []string{"CMD"}}
	options, command, ok := strings.Cut(text, "CMD ")
	if !ok {
		return fmt.Errorf("must have a CMD")
	}
	for option := range strings.FieldsSeq(options) {
		key, value, _ := strings.Cut(option, "=")
		d, err := time.ParseDuration(value)
		switch key {
		case "--interval":
			h.Interval = d
		case "--timeout":
			h.Timeout = d
		case "--start-period":
			h.StartPeriod = d
		case "--retries":
			h.Retries, err = strconv.Atoi(value)
		default:
			return fmt.Errorf("must be an option that this program knows: %s", key)
		}
		if err != nil {
			return err
		}
	}
	var words []string
	if err := json.Unmarshal([]byte(command), &words); err != nil {
		return err
	}
	h.Test = append(h.Test, words...)
	b.config.Config.Healthcheck = h
	return nil
}

// copy adds a file or a folder: [--chown=USER:GROUP] FROM TO.
func (b *builder) copy(words []string) (err error) {
	user, group := 0, 0
	if owner, ok := strings.CutPrefix(words[0], "--chown="); ok {
		if _, err := fmt.Sscanf(owner, "%d:%d", &user, &group); err != nil {
			return err
		}
		words = words[1:]
	}
	if len(words) != 2 || !strings.HasPrefix(words[1], "/") {
		return fmt.Errorf("must be COPY FROM /TO")
	}
	from, to := filepath.Join(b.folder, words[0]), words[1][1:]
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return b.add(from, to, user, group)
	}
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		return b.add(path, filepath.Join(to, rel), user, group)
	})
}

// add adds one file or folder, and the folders around it.
func (b *builder) add(from, to string, user, group int) error {
	for i, c := range to {
		if c == '/' {
			if err := b.folderAt(to[:i], 0, 0); err != nil {
				return err
			}
		}
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return b.folderAt(to, user, group)
	}
	mode := int64(0o644)
	if info.Mode()&0o100 != 0 {
		mode = 0o755
	}
	if err := b.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: to, Size: info.Size(), Mode: mode, Uid: user, Gid: group, ModTime: b.at}); err != nil {
		return err
	}
	file, err := os.Open(from)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(b.tar, file)
	return err
}

// folderAt adds a folder once.
func (b *builder) folderAt(path string, user, group int) error {
	if b.made[path] {
		return nil
	}
	b.made[path] = true
	return b.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: path + "/", Mode: 0o755, Uid: user, Gid: group, ModTime: b.at})
}

// image makes the image of what was added.
func (b *builder) image() (v1.Image, error) {
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.files.Bytes())), nil })
	if err != nil {
		return nil, err
	}
	image, err := mutate.ConfigFile(empty.Image, &b.config)
	if err != nil {
		return nil, err
	}
	return mutate.Append(image, mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: b.at}, CreatedBy: "packaging/docker/Dockerfile"}})
}
