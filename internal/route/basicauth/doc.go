// Package basicauth checks credentials of the scheme Basic (RFC 7617) against a file of users and bcrypt hashes,
// as htpasswd -B writes it.
//
// Users are those of one file. A Checker says whether credentials are those of a user, at a bounded cost: a hash takes tens of
// milliseconds of a CPU, and anybody may have one computed for each guess. So a Checker remembers what it has found
// right, computes few hashes at once, first those of networks and clients that have tried least, and lets few wait. It does not know requests: the caller finds the field and
// the client.
package basicauth
