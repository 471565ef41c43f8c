// Package packaging looks at what is delivered beside the program: rules and dashboard for
// monitoring, units of systemd, packages, images, a chart.
//
// It answers one question: does what packaging/ has fit the program that is built from this
// tree? Names of metrics are compared with a scrape of the program, files are given to the
// tools that read them, and what a tool makes is opened and compared.
package packaging
