package proxy_test

import (
	"flag"
	"os"
	"testing"
)

// atOnce is how many parallel tests run at once. Most of them wait: for a grace, for a timeout, for a look at the
// connections. By default there would be one for each processor.
const atOnce = "8"

func TestMain(m *testing.M) {
	flag.Parse()
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == "test.parallel" || f.Name == "test.fuzz" })
	if !asked {
		if err := flag.Set("test.parallel", atOnce); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
