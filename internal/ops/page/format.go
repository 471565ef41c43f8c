package page

import (
	"math"
	"strconv"
	"strings"
)

// name is the unit's word in the script.
func (u Unit) name() string {
	return [...]string{"plain", "bytes", "percent", "seconds"}[u]
}

// Format writes v for a reader, to four significant digits and with its unit, as
// the tables below the charts have it; whole plain numbers are written in full.
func (u Unit) Format(v float64) string {
	if v < 0 {
		return "-" + u.Format(-v)
	}
	switch u {
	case Bytes:
		return formatBytes(v)
	case Percent:
		return digits(100*v) + " %"
	case Seconds:
		return formatSeconds(v)
	case Plain:
	}
	return digits(v)
}

// digits writes v, which is not below 0, to four significant digits, and whole
// numbers in full.
func digits(v float64) string {
	if v >= 1e15 || v != 0 && v < 1e-4 {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	if v == math.Trunc(v) || v >= 1000 {
		return grouped(strconv.FormatFloat(v, 'f', 0, 64))
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// grouped sets a comma between every three digits.
func grouped(whole string) string {
	var b strings.Builder
	for i, d := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

func formatBytes(v float64) string {
	units := [...]string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}
	n := 0
	for v >= 1024 && n < len(units)-1 {
		v /= 1024
		n++
	}
	return digits(v) + " " + units[n]
}

func formatSeconds(v float64) string {
	switch {
	case v == 0:
		return "0 s"
	case v < 1e-6:
		return digits(v*1e9) + " ns"
	case v < 1e-3:
		return digits(v*1e6) + " µs"
	case v < 1:
		return digits(v*1e3) + " ms"
	case v < 60:
		return digits(v) + " s"
	}
	s := math.Round(v)
	h, m := math.Floor(s/3600), math.Floor(math.Mod(s, 3600)/60)
	out := ""
	if h > 0 {
		out += digits(h) + "h"
	}
	if m > 0 {
		out += digits(m) + "m"
	}
	if s = math.Mod(s, 60); s > 0 {
		out += digits(s) + "s"
	}
	return out
}
