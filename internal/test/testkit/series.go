package testkit

import (
	"bufio"
	"io"
	"strconv"
	"strings"
)

// Series are the values of one scrape by name and labels, as they are written.
type Series map[string]float64

// ReadSeries reads the text format of Prometheus.
func ReadSeries(r io.Reader) (Series, error) {
	s := Series{}
	in := bufio.NewScanner(r)
	for in.Scan() {
		i := strings.LastIndexByte(in.Text(), ' ')
		if i < 0 || strings.HasPrefix(in.Text(), "#") {
			continue
		}
		if v, err := strconv.ParseFloat(in.Text()[i+1:], 64); err == nil {
			s[in.Text()[:i]] = v
		}
	}
	return s, in.Err()
}

// Sum adds up the series of a name.
func (s Series) Sum(name string) (total float64) {
	for series, v := range s {
		if series == name || strings.HasPrefix(series, name+"{") {
			total += v
		}
	}
	return total
}
