# What W3 Total Cache's own tests run it before: the target is a pattern between ^ and $.
vcl 4.1;

backend default { .host = "127.0.0.1"; .port = "3000"; }
acl purgers { "127.0.0.1"; }

sub vcl_recv {
    if (req.method != "PURGE") { return (hash); }
    if (client.ip !~ purgers) { return (synth(405)); }
    ban("req.url ~ ^" + req.url + "$ && req.http.host == " + req.http.host);
    return (synth(200, "Purged."));
}
