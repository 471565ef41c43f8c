package config

import (
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// Path returns where r stands in the file: routes[0], or routes[0].routes[1] for a route within another. Included files count on.
func (r *Route) Path() string { return r.path }

// routeList is the value of routes. A route may have routes within it, which share what it says: they become routes before it, and what they
// do not say themselves they have from it. The names of those before a decoded route are the name of the one around it, a dot, and their own.
type routeList struct{ items[Route] }

func (l *routeList) read(d *decoder) func(node) {
	return func(n node) {
		list, ok := n.Node.(*ast.SequenceNode)
		if !ok {
			d.failKind(n, l.want)
			return
		}
		d.notePlace(node{Node: list, path: n.path}, place{})
		*l.field = nil
		l.add(d, list)
	}
}

// add decodes the routes of list behind those of l so far.
func (l *routeList) add(d *decoder, list *ast.SequenceNode) {
	defaults := withDefaults((*Route).table)
	*l.field = slices.Grow(*l.field, len(list.Values))
	for _, v := range list.Values {
		n := node{Node: v, path: item(routesKey, d.topRoutes)}
		d.topRoutes++
		first := len(*l.field)
		n.Node = l.addNested(d, n, &defaults)
		l.addOne(d, n, &defaults)
		around := &(*l.field)[len(*l.field)-1]
		for i := first; i < len(*l.field)-1; i++ {
			r := &(*l.field)[i]
			if r.lifts = lifts(&r.ownInherited.Access, &around.ownInherited.Access); around.Name != "" && r.Name != "" {
				r.Name = around.Name + "." + r.Name
			}
		}
	}
}

// lifts returns the keys of access by which a route lets clients in that the one around it refuses.
func lifts(own, around *Access) (keys []string) {
	if len(around.Allow) > 0 && isNone(own.Allow) {
		keys = append(keys, "allow")
	}
	if len(around.Deny) > 0 && isNone(own.Deny) {
		keys = append(keys, "deny")
	}
	if around.BasicAuth.UsersFile != "" && !own.BasicAuth.Enabled {
		keys = append(keys, "basic_auth")
	}
	return keys
}

// addOne decodes one route.
func (l *routeList) addOne(d *decoder, n node, defaults *Route) {
	d.notePlace(n, place{})
	*l.field = append(*l.field, Route{})
	r := &(*l.field)[len(*l.field)-1]
	l.readElement(d, r, defaults)(n)
	r.path = n.path
}

// addNested decodes the routes within the route n, and returns the rest of n.
func (l *routeList) addNested(d *decoder, n node, defaults *Route) ast.Node {
	own, _ := pairs(n.Node)
	isRoutes := func(p *ast.MappingValueNode) bool { return keyOf(p) == routesKey }
	at := slices.IndexFunc(own, isRoutes)
	if at < 0 || slices.ContainsFunc(own[at+1:], isRoutes) {
		return n.Node
	}
	list, ok := own[at].Value.(*ast.SequenceNode)
	if !ok {
		return n.Node
	}
	rest := slices.Delete(slices.Clone(own), at, at+1)
	path := child(n.path, routesKey)
	d.notePlace(node{path: path, key: own[at].Key.GetToken()}, place{})
	d.matchesByHosts(rest, n.path)
	for i, v := range list.Values {
		e := node{Node: v, path: item(path, i)}
		e.Node = d.nested(e, rest)
		l.addOne(d, e, defaults)
	}
	return sectionOf(rest, n.Node)
}

// sectionOf is a section with these keys in the place of n.
func sectionOf(of []*ast.MappingValueNode, n ast.Node) ast.Node {
	m, ok := n.(*ast.MappingNode)
	return ast.Mapping(n.GetToken(), ok && m.IsFlowStyle, of...)
}

// keyOf returns the key of p as it is written.
func keyOf(p *ast.MappingValueNode) string { return p.Key.GetToken().Value }

// pairWith returns the first of all with the key, nil if there is none.
func pairWith(all []*ast.MappingValueNode, key string) *ast.MappingValueNode {
	if i := slices.IndexFunc(all, func(p *ast.MappingValueNode) bool { return keyOf(p) == key }); i >= 0 {
		return all[i]
	}
	return nil
}

// matchesByHosts refuses other conditions of a route that has routes in it: those within would have to meet them as well.
func (d *decoder) matchesByHosts(route []*ast.MappingValueNode, path string) {
	match := pairWith(route, matchKey)
	if match == nil {
		return
	}
	conditions, _ := pairs(match.Value)
	for _, p := range conditions {
		if key := keyOf(p); key != hostsKey {
			d.failAtKey(p.Key.GetToken(), descendant(path, matchKey+"."+key), "", "must be in a route within this one: a route that has some matches by hosts alone")
		}
	}
}

const (
	matchKey = "match"
	hostsKey = "hosts"
)

// shared returns what routes within route have from it: all but what is its own. Routes with redirect or respond have the part that is for them.
func shared(route []*ast.MappingValueNode, answers bool) (out []*ast.MappingValueNode) {
	for _, p := range route {
		switch key := keyOf(p); {
		case key == matchKey:
			out = append(out, only(p, hostsKey))
		case slices.Contains([]string{"name", routesKey, "rewrite", "redirect", "respond"}, key):
		case answers && key == "headers":
			out = append(out, only(p, "generated"))
		case !answers || slices.Contains([]string{"access", "error_pages", "limits", "access_log"}, key):
			out = append(out, p)
		}
	}
	return out
}

// only is the section p with one of its keys.
func only(p *ast.MappingValueNode, key string) *ast.MappingValueNode {
	of, ok := pairs(p.Value)
	if !ok {
		return p
	}
	return ast.MappingValue(p.Start, p.Key, sectionOf(slices.DeleteFunc(slices.Clone(of), func(p *ast.MappingValueNode) bool { return keyOf(p) != key }), p.Value))
}

// nested returns a route within another, with what it has from that one.
func (d *decoder) nested(n node, around []*ast.MappingValueNode) ast.Node {
	own, ok := pairs(n.Node)
	if !ok {
		return n.Node
	}
	answers := pairWith(own, "origin") == nil && (hasKeys(pairWith(own, "redirect")) || hasKeys(pairWith(own, "respond")))
	return sectionOf(d.over(n.path, own, shared(around, answers), new(Route).table()), n.Node)
}

// hasKeys reports whether p is a section that says something: an empty redirect or respond is none.
func hasKeys(p *ast.MappingValueNode) bool { return p != nil && isSection(p.Value) }

// over returns the keys of a section at path: own, and those of around that own does not replace. t is the table of the section.
func (d *decoder) over(path string, own, around []*ast.MappingValueNode, t table) []*ast.MappingValueNode {
	out := slices.Clone(own)
	if replacesAll(path, own) {
		return out
	}
	if strings.Contains(path, ".headers.") {
		d.noteRemoved(path, own, around)
		around = fieldsOver(own, around)
	}
	for _, p := range around {
		i := slices.IndexFunc(own, func(o *ast.MappingValueNode) bool { return keyOf(o) == keyOf(p) })
		switch {
		case i >= 0:
			out[i] = ast.MappingValue(own[i].Start, own[i].Key, d.valueOver(child(path, keyOf(p)), own[i], p, t))
		case pairWith(own, inPlaceOf[keyOf(p)]) != nil:
		default:
			out = append(out, p)
		}
	}
	return out
}

// inPlaceOf has, for keys of the route around, the key of a route within that stands in their place.
var inPlaceOf = map[string]string{
	"more_than": "policy", "keep_cookies": "strip_cookies", "strip_cookies": "keep_cookies", "only_query": "ignore_query", "ignore_query": "only_query",
}

// replacesAll reports whether a section says no to all that it would have from around, which would stand there without effect.
func replacesAll(path string, own []*ast.MappingValueNode) bool {
	for section, no := range map[string]string{".access_log": "enabled", ".basic_auth": "enabled", ".rate": "requests", ".compress": "codings"} {
		if p := pairWith(own, no); p != nil && strings.HasSuffix(path, section) {
			word := p.Value.GetToken().Value
			return word == "false" || word == "0" || isEmptyList(p.Value)
		}
	}
	return false
}

func isEmptyList(n ast.Node) bool {
	list, ok := n.(*ast.SequenceNode)
	return ok && len(list.Values) == 0
}

// valueOver returns the value of a key that stands in a route and in the one around it.
func (d *decoder) valueOver(path string, own, around *ast.MappingValueNode, t table) ast.Node {
	s, _ := t.find(keyOf(own))
	ownPairs, isOwn := pairs(own.Value)
	aroundPairs, isAround := pairs(around.Value)
	sections := isOwn && isAround
	switch keyOf(own) {
	case hostsKey:
		d.failAtKey(own.Key.GetToken(), path, "", "must be in the route around this one, for all routes within it")
	case "error_pages", "set":
		if sections {
			return d.namesOver(path, own, ownPairs, aroundPairs)
		}
	case "allow", "only", "deny", "remove":
		return d.listOver(path, own, around)
	default:
		if isGroup(s) && sections {
			return sectionOf(d.over(path, ownPairs, aroundPairs, s.value.(*group).settings()), own.Value)
		}
	}
	return own.Value
}

func isGroup(s row) bool {
	_, ok := s.value.(*group)
	return ok
}

// namesOver returns the names of own, and those of around that own does not have. A name with null in own is one that is removed.
func (d *decoder) namesOver(path string, own *ast.MappingValueNode, names, around []*ast.MappingValueNode) ast.Node {
	out := slices.Clone(names)
	for _, p := range around {
		i := slices.IndexFunc(names, func(o *ast.MappingValueNode) bool { return strings.EqualFold(keyOf(o), keyOf(p)) })
		if i < 0 {
			out = append(out, p)
			continue
		}
		d.src.setAround[child(path, keyOf(names[i]))] = true
	}
	return sectionOf(out, own.Value)
}

// listOver returns own in place of around, for deny and remove with the elements of both.
func (d *decoder) listOver(path string, own, around *ast.MappingValueNode) ast.Node {
	mine, listed := own.Value.(*ast.SequenceNode)
	theirs, theirsListed := around.Value.(*ast.SequenceNode)
	if isEmptyList(around.Value) {
		return own.Value
	}
	if shown, want := wrongList(own, around); want != "" {
		d.failAtKey(own.Key.GetToken(), path, shown, want)
		return own.Value
	}
	if !addsUp(keyOf(own)) || !listed || !theirsListed {
		return own.Value
	}
	both := ast.Sequence(mine.Start, mine.IsFlowStyle)
	both.Values = slices.Concat(mine.Values, theirs.Values)
	return both
}

// addsUp reports whether the lists under a key of a route and of the one around it both apply.
func addsUp(key string) bool { return key == "deny" || key == "remove" }

// wrongList returns what is wrong with a list beside that of the route around, "" for nothing: what a variable holds is not known here.
func wrongList(own, around *ast.MappingValueNode) (shown, want string) {
	_, listed := own.Value.(*ast.SequenceNode)
	_, theirsListed := around.Value.(*ast.SequenceNode)
	_, variable := variableText(own.Value)
	_, theirVariable := variableText(around.Value)
	key := keyOf(own)
	switch {
	case isEmptyList(own.Value):
		return "[]", "must have an element, or remove the key: an empty list does not say whether that of the route around this one applies"
	case addsUp(key) && (variable || listed && theirVariable || !theirsListed && key == "remove"):
		return "", "must be a list in brackets, here and in the route around this one: both apply"
	case key == "only" && variable: // it may be empty, which would let every field pass
		return "", "must be a list in brackets: the route around this one has one as well"
	}
	return "", ""
}

// noteRemoved notes the names that own sets to null and that the section around removes: null takes them out of that list.
func (d *decoder) noteRemoved(path string, own, around []*ast.MappingValueNode) {
	sets, removed := pairWith(own, "set"), pairWith(around, "remove")
	if sets == nil || removed == nil {
		return
	}
	of, _ := pairs(sets.Value)
	for _, p := range of {
		if slices.ContainsFunc(wordsOf(removed.Value), func(name string) bool { return strings.EqualFold(name, keyOf(p)) }) {
			d.src.setAround[child(child(path, "set"), keyOf(p))] = true
		}
	}
}

// fieldsOver returns the rules for fields of the section around one that has own, without those for fields that own sets or removes.
func fieldsOver(own, around []*ast.MappingValueNode) []*ast.MappingValueNode {
	var sets, removed []string
	if p := pairWith(own, "set"); p != nil {
		of, _ := pairs(p.Value)
		for _, p := range of {
			sets = append(sets, keyOf(p))
		}
	}
	if p := pairWith(own, "remove"); p != nil {
		removed = wordsOf(p.Value)
	}
	out := slices.Clone(around)
	for i, p := range out {
		list, listed := p.Value.(*ast.SequenceNode)
		of, isSection := pairs(p.Value)
		switch key := keyOf(p); {
		case key == "set" && isSection:
			of = slices.DeleteFunc(slices.Clone(of), func(p *ast.MappingValueNode) bool {
				return slices.ContainsFunc(removed, func(element string) bool { return removes(element, keyOf(p)) })
			})
			out[i] = ast.MappingValue(p.Start, p.Key, sectionOf(of, p.Value))
		case key == "remove" && listed:
			rest := ast.Sequence(list.Start, list.IsFlowStyle)
			rest.Values = slices.DeleteFunc(slices.Clone(list.Values), func(n ast.Node) bool {
				return slices.ContainsFunc(sets, func(name string) bool { return strings.EqualFold(name, n.GetToken().Value) })
			})
			out[i] = ast.MappingValue(p.Start, p.Key, rest)
		}
	}
	return out
}

// wordsOf returns the elements of a list as they are written.
func wordsOf(n ast.Node) (out []string) {
	if list, ok := n.(*ast.SequenceNode); ok {
		for _, n := range list.Values {
			out = append(out, n.GetToken().Value)
		}
	}
	return out
}

func (l *routeList) check(v *validator, path string) {
	for _, e := range l.elements(path) {
		e.settings().check(v, e.path)
	}
}

func (l *routeList) elements(path string) []element {
	out := l.items.elements(path)
	for i := range out {
		out[i].path = (*l.field)[i].path
	}
	return out
}

func (l *routeList) take(from value) { *l.field = *from.(*routeList).field }

const (
	routeShape = "route"           // the name of its JSON Schema
	nestedPath = "routes[].routes" // the path of routes within others
)

func (l *routeList) schema() object { return object{"type": "array", "items": ref(routeShape)} }

// nestedRoutes is the value of routes in a route. It holds nothing: they are among the routes.
type nestedRoutes struct{ misplacedKey }

func (nestedRoutes) read(d *decoder) func(node) {
	return func(n node) {
		switch _, ok := n.Node.(*ast.SequenceNode); {
		case strings.Contains(n.path, "].routes["):
			d.failWithValue(n.path, "", "must be in a route at the top of the list: a route within another has none in it")
		case !ok:
			d.failKind(n, wantRoutes)
		}
	}
}

func (nestedRoutes) kind() string   { return "list of routes" }
func (nestedRoutes) schema() object { return object{"type": "array", "items": ref(routeShape)} }

const wantRoutes = "must be a list of routes"
