// Package front holds the clients' side: addresses, certificates, and one front for each version of HTTP.
package front
