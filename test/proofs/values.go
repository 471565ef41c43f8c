package main

// figures are a hit ratio and a byte hit ratio in percent, and stores.
type figures struct {
	hits, bytes float64
	writes      int64
}

// staged are those ratios, and the change of the stores into the main part
// against always, in percent.
type staged struct{ hits, bytes, writes float64 }

// values are one row of what another simulator found, whose own check was to give
// the misses that libCacheSim expects of LRU. It kept sightings in exact sets and
// evicted by exact LRU. C is the number of objects of mean size that the capacity
// holds, and the periods were 100 at least.
type values struct {
	share     int64   // of the unique bytes, in percent
	capacity  int64   // bytes
	always    figures // everything is stored
	unlimited figures // second-hit with a memory that never forgets
	requests  figures // second-hit, two generations of 4 C requests
	keys      figures // second-hit, two generations of C keys
	counting  figures // more than 4 sightings, never forgotten
	stage1    staged  // as requests, with 1 % of the capacity as a stage
	stage10   staged  // 10 %
}

// recorded is a trace and what is known of it.
type recorded struct {
	file, name string
	rows       []values
}

// traces returns the traces with their values, smallest capacity first.
func traces() []recorded {
	return []recorded{
		{adaptsize, "adaptsize", adaptsizeValues()},
		{nasa, "NASA, a day of 1995", nasaValues()},
		{apache, "Apache log of 2015", apacheValues()},
	}
}

func adaptsizeValues() []values {
	return []values{
		{
			1, 2_804_312,
			figures{24.49, 29.17, 50582},
			figures{24.82, 28.15, 13547},
			figures{22.41, 26.30, 5976},
			figures{21.47, 25.75, 5079},
			figures{22.80, 25.20, 2876},
			staged{24.50, 27.24, -88.2},
			staged{26.40, 30.07, -87.9},
		},
		{
			5, 14_021_562,
			figures{31.27, 34.62, 46040},
			figures{31.78, 33.32, 8883},
			figures{30.87, 32.54, 5897},
			figures{30.19, 32.04, 4844},
			figures{24.95, 26.80, 1440},
			staged{33.81, 35.15, -87.1},
			staged{34.92, 37.22, -86.9},
		},
		{
			20, 56_086_248,
			figures{38.53, 39.92, 41176},
			figures{34.66, 35.27, 6957},
			figures{34.49, 35.16, 6698},
			figures{33.62, 34.57, 5683},
			figures{24.95, 26.80, 1440},
			staged{38.08, 38.43, -83.7},
			staged{39.29, 40.38, -83.7},
		},
	}
}

func nasaValues() []values {
	return []values{
		{
			1, 1_093_593,
			figures{52.64, 16.70, 14336},
			figures{55.43, 17.39, 11755},
			figures{64.25, 20.94, 1423},
			figures{65.08, 21.57, 2157},
			figures{60.56, 19.75, 7542},
			staged{64.63, 20.88, -90.0},
			staged{64.52, 20.56, -89.3},
		},
		{
			5, 5_467_965,
			figures{72.61, 33.89, 8298},
			figures{74.98, 35.48, 5842},
			figures{78.99, 36.89, 898},
			figures{79.13, 36.79, 702},
			figures{77.39, 35.57, 2446},
			staged{79.25, 37.01, -88.8},
			staged{79.19, 37.88, -88.2},
		},
		{
			20, 21_871_863,
			figures{86.25, 55.33, 4165},
			figures{86.27, 54.52, 2420},
			figures{86.67, 54.97, 938},
			figures{86.49, 55.03, 921},
			figures{83.27, 46.83, 665},
			staged{87.05, 55.51, -77.3},
			staged{87.09, 56.88, -75.9},
		},
	}
}

func apacheValues() []values {
	return []values{
		{
			1, 5_612_777,
			figures{59.13, 4.61, 3835},
			figures{58.93, 4.59, 2479},
			figures{61.22, 4.91, 537},
			figures{61.80, 5.52, 677},
			figures{60.00, 4.81, 1038},
			staged{61.88, 4.94, -86.0},
			staged{63.21, 4.94, -85.1},
		},
		{
			5, 28_063_888,
			figures{74.05, 10.59, 2422},
			figures{73.97, 10.71, 1051},
			figures{71.15, 9.59, 429},
			figures{69.75, 9.07, 337},
			figures{68.28, 8.79, 252},
			staged{71.84, 9.61, -82.9},
			staged{73.39, 9.74, -82.5},
		},
		{
			20, 112_255_552,
			figures{69.33, 42.22, 2925},
			figures{69.75, 49.55, 1498},
			figures{69.32, 53.76, 1004},
			figures{70.38, 52.19, 791},
			figures{66.07, 50.87, 496},
			staged{70.96, 52.65, -65.4},
			staged{72.82, 48.56, -57.6},
		},
	}
}
