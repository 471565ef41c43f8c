# What the Drupal modules Generic HTTP Purger and Varnish Purge document.
vcl 4.1;

backend default { .host = "127.0.0.1"; .port = "3000"; }
acl purge { "127.0.0.1"; }

sub vcl_recv {
    if (req.method != "PURGE" && req.method != "BAN") { return (hash); }
    if (client.ip !~ purge) { return (synth(403)); }
    if (req.method == "PURGE") { return (purge); }
    if (req.http.Cache-Tags) {
        ban("obj.http.Cache-Tags ~ " + req.http.Cache-Tags);
    } elsif (req.http.Purge-Cache-Tags) {
        ban("obj.http.Purge-Cache-Tags ~ " + req.http.Purge-Cache-Tags);
    } else {
        ban("req.url ~ " + req.url);
    }
    return (synth(200, "Ban added."));
}
