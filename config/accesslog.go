package config

import (
	"strings"
	"unicode"

	"edgeproxy/internal/ops/accesslog"
	"edgeproxy/internal/route/setting"
)

func (a *AccessLog) table() table {
	return table{
		restart("path", textual(&a.Path, ""), `A file, "-" for standard output, syslog:server=HOST:PORT for a syslog server, "" for none.`).asBasic().withExample("/var/log/edgeproxy/access.log"),
		live("format", enum(&a.Format, accesslog.FormJSON, accesslog.FormJSON, accesslog.FormCombined, accesslog.FormTemplate), "The form of a line."),
		live("template", textual(&a.Template, ""), "With format: template, text with fields in braces; {{ and }} are braces.").withExample(`"{client} {status}"`),
		live("sample", ratio(&a.Sample, 1).between(0, 1), "The share of requests that are logged, chosen at random."),
	}
}

// routeLogTable is the access_log section of a route.
func routeLogTable(r *setting.Log) table {
	return table{
		live("enabled", boolean(&r.Enabled, true), "false logs no request of the route."),
		live("sample", ratio(&r.Sample, 1).between(0, 1), "The share of the route's requests that are logged."),
		misplaced("path", wantOneLog), misplaced("format", wantOneLog), misplaced("template", wantOneLog),
	}
}

const wantOneLog = "belongs in the access_log section: all routes write one log"

// routeLog returns the log settings of a route. Its access_log section is at path and holds own. Keys
// that the section lacks have the values for all routes.
func (c *Config) routeLog(src *source, path string, own *setting.Log) setting.Log {
	return overlaid(setting.Log{Enabled: true, Sample: c.AccessLog.Sample}, own, routeLogTable, src, path)
}

// accessLog checks the access_log sections.
func (v *validator) accessLog() {
	const path = "access_log.path"
	if strings.ContainsFunc(v.c.AccessLog.Path, unicode.IsControl) {
		v.fail(path, `must be a file, "-" for standard output, syslog:server=HOST:PORT, or ""`)
	} else if err := accesslog.ValidPath(v.c.AccessLog.Path); err != nil && v.noErrorAt(path) {
		v.fail(path, err.Error())
	}
	v.noServers()
	v.unusedLogKeys()
	v.logTemplate()
	for i, r := range v.c.Routes {
		if at := child(v.c.Routes[i].path, "access_log"); !r.ownLog.Enabled && v.src.given(child(at, "enabled")) && v.src.given(child(at, "sample")) {
			v.fail(child(at, "sample"), "remove it: with enabled: false nothing is logged")
		}
	}
}

// noServers refuses syslog where a file or a folder is wanted: it would get this name.
func (v *validator) noServers() {
	files := map[string]string{"admission.state": v.c.Admission.State, "limits.spool_path": v.c.Limits.SpoolPath}
	for i, path := range v.c.Cache.Disk.Paths {
		files[v.src.elementPath(diskPath, i)] = path
	}
	for at, path := range files {
		if accesslog.Remote(path) && v.noErrorAt(at) {
			v.fail(at, "must be a path: only access_log.path can be syslog")
		}
	}
}

// logTemplate checks the template, and that there is one exactly if the format is template.
func (v *validator) logTemplate() {
	const format, template = "access_log.format", "access_log.template"
	a := &v.c.AccessLog
	if !v.noErrorAt(format, template) {
		return
	}
	switch {
	case a.Format == accesslog.FormTemplate && a.Template == "":
		v.fail(format, "needs access_log.template as well, such as '{client} {status} \"{target}\"'")
	case a.Format != accesslog.FormTemplate && a.Template != "":
		v.fail(template, "needs format: template as well, or remove this key")
	case a.Template != "":
		if _, err := accesslog.Template(a.Template); err != nil {
			v.fail(template, err.Error())
		}
	}
}

// unusedLogKeys refuses settings of a log that is not written: the operator expects one.
func (v *validator) unusedLogKeys() {
	a, defaults := &v.c.AccessLog, withDefaults((*AccessLog).table)
	if a.Path != "" || !v.noErrorAt("access_log.path") {
		return
	}
	said := map[string]bool{
		"access_log.format": a.Format != defaults.Format, "access_log.template": a.Template != "", "access_log.sample": a.Sample != defaults.Sample,
	}
	for i, r := range v.c.Routes {
		said[descendant(v.c.Routes[i].path, "access_log.sample")] = r.ownLog.Sample != defaults.Sample
	}
	for at, unusual := range said {
		if unusual && v.src.given(at) && v.noErrorAt(at) {
			v.fail(at, "needs access_log.path as well: without it nothing is logged")
		}
	}
}
