# What FOSHttpCache documents for PURGE, BAN and, with varnish-modules, PURGEKEYS.
vcl 4.1;

import xkey;

backend default { .host = "127.0.0.1"; .port = "3000"; }
acl invalidators { "127.0.0.1"; }

sub vcl_recv {
    if (req.method != "PURGE" && req.method != "BAN" && req.method != "PURGEKEYS") { return (hash); }
    if (client.ip !~ invalidators) { return (synth(405)); }
    if (req.method == "PURGE") { return (purge); }
    if (req.method == "PURGEKEYS") {
        set req.http.n-gone = 0;
        if (req.http.xkey-purge) { set req.http.n-gone = xkey.purge(req.http.xkey-purge); }
        if (req.http.xkey-softpurge) { set req.http.n-gone = xkey.softpurge(req.http.xkey-softpurge); }
        return (synth(200, "Purged " + req.http.n-gone));
    }
    if (req.http.X-Cache-Tags) {
        ban("obj.http.X-Host ~ " + req.http.X-Host + " && obj.http.X-Url ~ " + req.http.X-Url
            + " && obj.http.content-type ~ " + req.http.X-Content-Type + " && obj.http.X-Cache-Tags ~ " + req.http.X-Cache-Tags);
    } else {
        ban("obj.http.X-Host ~ " + req.http.X-Host + " && obj.http.X-Url ~ " + req.http.X-Url
            + " && obj.http.content-type ~ " + req.http.X-Content-Type);
    }
    return (synth(200, "Banned"));
}

sub vcl_backend_response {
    set beresp.grace = 1h;
    set beresp.http.X-Url = bereq.url;
    set beresp.http.X-Host = bereq.http.host;
}
