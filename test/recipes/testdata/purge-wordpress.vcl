# What the plugins Proxy Cache Purge and WP Rocket ask operators to have in their VCL.
vcl 4.1;

backend default { .host = "127.0.0.1"; .port = "3000"; }
acl purgers { "127.0.0.1"; }

sub vcl_recv {
    if (req.method != "PURGE") { return (hash); }
    if (client.ip !~ purgers) { return (synth(405)); }
    if (req.http.X-Purge-Method == "tags" && req.http.X-Cache-Tags-Pattern) {
        ban("obj.http.X-Cache-Tags ~ " + req.http.X-Cache-Tags-Pattern);
    } elsif (req.http.X-Purge-Method == "ban-regex" && req.http.X-Ban-Regex) {
        ban("obj.http.x-url ~ " + req.http.X-Ban-Regex + " && obj.http.x-host ~ " + req.http.host);
    } elsif (req.http.X-Purge-Method == "regex") {
        ban("obj.http.x-url ~ " + req.url + " && obj.http.x-host == " + req.http.host);
    } else {
        ban("obj.http.x-url == " + req.url + " && obj.http.x-host == " + req.http.host);
    }
    return (synth(200, "Purged"));
}

sub vcl_backend_response {
    set beresp.http.x-url = bereq.url;
    set beresp.http.x-host = bereq.http.host;
}
