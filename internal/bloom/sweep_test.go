package bloom

import "testing"

// Clearing 100 million bits beside busy goroutines took seconds: it let all others run after each of 400 slices, up to 10 ms each.
func TestClearingLetOthersRunHundredsOfTimes(t *testing.T) {
	const bits, mostSlices, mostBytes = 100_000_000, 3, 4 << 20
	f := func(words int) { // sweeps a unit of that many words
		t.Helper()
		units, slices, next := bits/64/words+1, 0, 0
		for from, to := range Slices(units, words) {
			if from != next || to <= from || 8*words*(to-from) > mostBytes {
				t.Errorf("%d words: got the slice [%d, %d) behind %d, want it to follow with %d bytes at most", words, from, to, next, mostBytes)
			}
			slices, next = slices+1, to
		}
		if next != units || slices > mostSlices {
			t.Errorf("%d words: got %d slices up to %d, want at most %d up to %d", words, slices, next, mostSlices, units)
		}
	}
	f(1)
	f(8)
	for from, to := range Slices(0, 8) {
		t.Errorf("of nothing: got the slice [%d, %d)", from, to)
	}
}
