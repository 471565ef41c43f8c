// Package routing finds the route of a request.
//
// It answers one question: which route does this request take? A Match is the conditions of a route.
// All of them have to hold. The caller asks its routes in their order, and the first one that matches
// gets the request. HEAD counts as GET.
//
// The package is pure. It reads no request: the caller passes scheme, host, path, query and method, and
// a field is asked for by Fields. It keeps no argument. It allocates only room for decoded values, which
// the caller keeps. A Match does not change once it is in use, and is safe for concurrent use then.
package routing
