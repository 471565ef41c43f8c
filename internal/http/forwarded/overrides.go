package forwarded

import "strings"

// Overrides reports whether origins commonly believe the request field of this
// canonical name to say something of the request that its key says, or its connection:
// host, target, method, scheme, the client's address, or who the client is. A client that
// may send it shapes what others are served.
func Overrides(name string) bool {
	if overrides[name] {
		return true
	}
	for _, start := range overrideStarts {
		if strings.HasPrefix(name, start) {
			return true
		}
	}
	return false
}

// overrideStarts are how families of such fields begin.
var overrideStarts = []string{
	"X-Forward", "Forwarded-", "X-Original-", "X-Originally-", "X-Rewrite-", "X-Override-",
	"X-Envoy-", "X-Azure-", "X-Arr-", "X-Appengine-", "Cloudfront-", "X-Vercel-Ip-",
	"X-Middleware-", "X-Invoke-", "X-React-Router-", // between the parts of Next.js, of React Router
	"Fastly-", "Fly-Forwarded-",
	// Who the client is, said by a proxy that has asked.
	"X-Auth-Request-", "X-Ssl-Client-", "Ssl-Client-", "Cf-Access-", "X-Goog-Authenticated-User-", "X-Goog-Iap-", "X-Amzn-Oidc-", "X-Ms-Client-Principal", "X-Ms-Token-",
	"X-Authentik-", "X-Pomerium-", "Tailscale-",
}

// overrides are the others, from what proxies and networks write, what frameworks read,
// and the lists that testers of cache poisoning go by.
var overrides = func() map[string]bool {
	all := map[string]bool{}
	for name := range strings.FieldsSeq(`
		Forwarded Accept-Version
		X-Host X-Real-Host X-Host-Name Host-Override X-Http-Host X-Http-Host-Override X-Host-Override X-Server-Name X-Server-Port X-Backend-Host X-Subdomain Proxy-Host Server-Name
		Base-Url X-Base-Url Request-Uri X-Request-Url X-Ms-Original-Url Script-Name X-Request-Uri X-Http-Destinationurl X-Http-Destination-Url X-Http-Path-Override X-Proxy-Url X-Cf-Url
		X-Path X-Uri X-Url X-Script-Name X-Ingress-Path
		X-Ning-Request-Uri X-Replaced-Path Unencoded-Url Orig-Path-Info X-Now-Route-Matches X-Matched-Path
		X-Http-Method X-Http-Method-Override X-Method X-Method-Override Method-Override X-Ajax-Real-Method Real-Method
		X-Scheme X-Http-Scheme X-Real-Scheme Request-Scheme X-Url-Scheme X-Proto X-Real-Proto X-Https Https X-Ssl Ssl-Https Ssl-Offloaded Https-From-Lb Front-End-Https Wl-Proxy-Ssl
		X-Orchestra-Scheme X-Remote-Protocol X-Nfsn-Https Cf-Visitor
		Client-Ip Clientip X-Client-Ip X-Clientip X-Client-Host True-Client-Ip X-True-Client-Ip X-Real-Ip Real-Ip X-Ip X-Ip-Trail
		X-Cluster-Client-Ip Fly-Client-Ip Cf-Connecting-Ip Cf-Connecting-Ipv6 Cf-Pseudo-Ipv4 Cf-Ipcountry Incap-Client-Ip
		Do-Connecting-Ip X-Nf-Client-Connection-Ip X-Vercel-Forwarded-For X-Sucuri-Clientip Ali-Cdn-Real-Ip Cdn-Src-Ip
		X-Remote-Ip X-Remote-Addr Remote-Addr X-Remote-Host Remote-Host X-Originating-Ip X-Orig-Client X-Proxyuser-Ip
		Proxy-Client-Ip Wl-Proxy-Client-Ip X-Azc-Remote-Addr X-Cisco-Bbsm-Clientip X-Sakura-Forwarded-For
		X-Custom-Ip-Authorization X-Geoip-Country 
		Remote-User X-Remote-User Remote-Name Remote-Email Remote-Groups X-Webauth-User X-Client-Cert X-Client-Verify Client-Cert Client-Cert-Chain
		Proxy Surrogate-Capability X-Sendfile-Type X-Accel-Mapping`) {
		all[name] = true
	}
	return all
}()
