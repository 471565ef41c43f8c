# What Magento's VCL does with a PURGE.
vcl 4.1;

backend default { .host = "127.0.0.1"; .port = "3000"; }
acl purge { "127.0.0.1"; }

sub vcl_recv {
    if (req.method != "PURGE") { return (hash); }
    if (client.ip !~ purge) { return (synth(405)); }
    if (!req.http.X-Magento-Tags-Pattern) { return (synth(400)); }
    ban("obj.http.X-Magento-Tags ~ " + req.http.X-Magento-Tags-Pattern);
    return (synth(200, "Purged"));
}
