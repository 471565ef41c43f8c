package simulate

import (
	"strconv"

	"github.com/dustin/go-humanize"
)

// Amount is a size in bytes, or a share of a whole that is only known when the log
// has been read.
type Amount struct {
	Bytes   int64   // 0 or more; ignored if Percent is given
	Percent float64 // percentage of the whole; 0 is a size in bytes
	Auto    bool    // the proxy's default, for a stage alone. The others are ignored then
}

// bytesOf returns the amount in bytes, a fraction of a byte dropped.
func (a Amount) bytesOf(whole int64) int64 {
	if a.Percent > 0 {
		return int64(float64(whole) * a.Percent / 100)
	}
	return a.Bytes
}

// share returns the percentage as it was written, or "" for a size in bytes.
func (a Amount) share() string {
	if a.Percent == 0 {
		return ""
	}
	return strconv.FormatFloat(a.Percent, 'g', -1, 64) + "%"
}

// String returns the amount, rounded, for a person.
func (a Amount) String() string {
	if a.Auto {
		return "auto"
	}
	if share := a.share(); share != "" {
		return share
	}
	return size(a.Bytes)
}

// sizes writes a capacity, and the disk behind it if there is one.
func sizes(capacity, disk int64) string {
	if disk == 0 {
		return size(capacity)
	}
	return size(capacity) + " and a disk of " + size(disk)
}

// counted writes n and the name of the things, with s for the plural.
func counted(n int64, name string) string {
	if n != 1 {
		name += "s"
	}
	return humanize.Comma(n) + " " + name
}

// size writes bytes for a person.
func size(bytes int64) string {
	if bytes < 0 {
		return "-" + humanize.IBytes(uint64(-bytes))
	}
	return humanize.IBytes(uint64(bytes))
}

// percent writes a ratio with two decimals.
func percent(ratio float64) string {
	return strconv.FormatFloat(100*ratio, 'f', 2, 64) + "%"
}

// ratio returns part of whole, 0 of nothing.
func ratio(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}
