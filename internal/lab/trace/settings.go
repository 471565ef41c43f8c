package trace

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
)

// Prefixes of generated workloads, before a colon.
const (
	schemeZipf       = "zipf"
	schemePopularity = "popularity"
)

const (
	maxMadeUpObjects  = 10_000_000
	maxMadeUpRequests = 100_000_000
)

// cutScheme returns the settings of SCHEME:SETTINGS, or "" for SCHEME alone. ok is false
// for a file.
func cutScheme(path, scheme string) (spec string, ok bool) {
	if path == scheme {
		return "", true
	}
	return strings.CutPrefix(path, scheme+":")
}

// eachSetting calls set for each KEY=VALUE of a list with commas, "" = none.
func eachSetting(spec string, set func(key, value string) error) error {
	if spec == "" {
		return nil
	}
	for pair := range strings.SplitSeq(spec, ",") {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			return fmt.Errorf("%q: must be KEY=VALUE", pair)
		}
		if err := set(key, value); err != nil {
			return fmt.Errorf("%s=%s: %w", printable(key), printable(value), err)
		}
	}
	return nil
}

func settingCount(s string, most int) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("must be 1 to %d", most)
	}
	return n, nil
}

func settingWithin(s string, least, most float64) (float64, error) {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || !(x >= least && x <= most) {
		return 0, fmt.Errorf("must be %g to %g", least, most)
	}
	return x, nil
}

func settingSize(s string) (int64, error) {
	n, err := humanize.ParseBytes(s)
	if err != nil || n == 0 || n > maxObjectBytes {
		return 0, errors.New("must be a size above 0 and at most 1 TiB, such as 64MiB")
	}
	return int64(n), nil
}

func settingSeed(s string) (uint64, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("must be 0 to %d", uint64(math.MaxUint64))
	}
	return n, nil
}
