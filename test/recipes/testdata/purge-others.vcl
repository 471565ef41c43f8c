# What Shopware (xkey), API Platform and Varnish's own manual (ban expressions, and fields named X-Ban) document.
vcl 4.1;

import xkey;

backend default { .host = "127.0.0.1"; .port = "3000"; }
acl purgers { "127.0.0.1"; }

sub vcl_recv {
    if (req.method != "PURGE" && req.method != "BAN") { return (hash); }
    if (client.ip !~ purgers) { return (synth(403)); }
    if (req.method == "PURGE") {
        if (req.http.xkey) {
            set req.http.n-gone = xkey.purge(req.http.xkey);
            return (synth(200));
        }
        if (req.http.Surrogate-Key) {
            set req.http.n-gone = xkey.purge(req.http.Surrogate-Key);
            return (synth(200));
        }
        return (purge);
    }
    if (req.http.ApiPlatform-Ban-Regex) {
        ban("obj.http.Cache-Tags ~ " + req.http.ApiPlatform-Ban-Regex);
    } elsif (req.http.X-Ban-Expression) {
        ban(req.http.X-Ban-Expression);
    } elsif (req.http.X-Ban-Url) {
        ban("obj.http.x-url ~ " + req.http.X-Ban-Url + " && obj.http.x-host ~ " + req.http.X-Ban-Host);
    } else {
        ban("req.http.host == " + req.http.host + " && req.url == " + req.url);
    }
    return (synth(200));
}

sub vcl_backend_response {
    set beresp.http.x-url = bereq.url;
    set beresp.http.x-host = bereq.http.host;
}
