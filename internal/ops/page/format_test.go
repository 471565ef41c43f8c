package page

import "testing"

func TestFormatKeepsFourDigitsAndTheUnit(t *testing.T) {
	f := func(u Unit, v float64, want string) {
		t.Helper()
		if got := u.Format(v); got != want {
			t.Errorf("%s %v: got %q, want %q", u.name(), v, got, want)
		}
	}

	f(Plain, 0, "0")
	f(Plain, 7, "7")
	f(Plain, 9.58506, "9.585")
	f(Plain, 999, "999")
	f(Plain, 1739, "1,739")
	f(Plain, 12345.678, "12,346")
	f(Plain, -1234567, "-1,234,567")
	f(Plain, 0.00012345, "0.0001234")
	f(Plain, 1.2344e-9, "1.234e-09")
	f(Plain, 1e15, "1e+15")
	f(Percent, 1, "100 %")
	f(Percent, 0.0100444, "1.004 %")
	f(Percent, 1e-9, "1e-07 %")
	f(Percent, -0.35, "-35 %")
	f(Bytes, 1023, "1,023 B")
	f(Bytes, 1024, "1 KiB")
	f(Bytes, 3.375e6, "3.219 MiB")
	f(Bytes, 1<<60, "1,024 PiB")
	f(Seconds, 0, "0 s")
	f(Seconds, 4.2e-8, "42 ns")
	f(Seconds, 42e-6, "42 µs")
	f(Seconds, 0.0123, "12.3 ms")
	f(Seconds, 1.5, "1.5 s")
	f(Seconds, 60, "1m")
	f(Seconds, 3600, "1h")
	f(Seconds, 5025.4, "1h23m45s")
	f(Seconds, 3e6, "833h20m")
}
