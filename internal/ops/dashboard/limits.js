  // ---- Limits reached, certificates, and how long origins took ----

  const bites = {
    refused: {
      requests_in_flight: "requests refused: too many at once (503)",
      requests_in_flight_share: "requests refused: the client is over its share (429)",
      rate: "requests refused: the client is over its rate (429)",
      origin_queue: "requests refused: no connection to the origin became free in time (503)",
      origin_share: "requests refused: the client is over its share of connections to the origin (429)",
      tunnels: "upgrades refused: too many at once (503)",
      tunnels_share: "upgrades refused: the client is over its share (429)",
      inflight_bytes: "uploads refused: no memory left for them (503)",
      inflight_share: "uploads refused: the client is over its share of the memory (429)",
      receive_rate: "uploads ended: slower than the limit (408)",
      send_rate: "connections closed: the client reads too slowly",
      pinned_bytes: "connections closed: slow clients kept too much memory of evicted bodies",
      connections: "connections refused: too many at once",
      connections_per_address: "connections refused: too many from one address",
    },
    let_go: {
      idle: "idle connections closed to make room for new ones",
      idle_of_address: "idle connections closed to make room for new ones from the same address",
      silent: "connections without a request closed to make room for new ones",
      handshake: "connections in their TLS handshake closed to make room for new ones",
      proxy_header: "connections without a PROXY header closed to make room for new ones",
    },
  };

  const showLimits = (s, at) => {
    const all = Object.keys(bites).flatMap((kind) => Object.entries(s.limits?.[kind] ?? {}).map(([name, n]) => ({kind, name, n})));
    all.sort((a, b) => b.n.total - a.n.total || (a.name < b.name ? -1 : 1));
    fill("limit-rows", all.map(({kind, name}) => [
      name, bites[kind][name] ?? kind.replace("_", " "), at(plain, "limits", kind, name, "total"), at(plain, "limits", kind, name, "lately"),
    ]), 2);
  };

  const someNames = (c) => (c.names ?? []).slice(0, 3).join(", ") + (c.names?.length > 3 ? ", …" : "");
  const soon = 14; // days, as the alert EdgeproxyCertificateExpires has it

  const showCertificates = (s, at) => {
    const all = s.certificates ?? [];
    fill("certificate-rows", all.map((c, i) => [
      someNames(c) || "no name", c.from === "file" ? c.file ?? "" : "ACME",
      c.not_after ? at((v) => v.slice(0, 10), "certificates", i, "not_after") : "none yet", c.not_after ? at(plain, "certificates", i, "days_left") : "–",
    ]), 3);
    const more = (s.certificate_count ?? 0) - all.length;
    setText(byId("certificates-more"), more > 0 ? `${plain(more)} more expire later.` : "");
  };

  // ending returns the certificates that are missing, or expire soon.
  const ending = (s) => (s.certificates ?? []).filter((c) => !c.not_after || c.days_left < soon);

  // certificateNotices leaves out those that are problems.
  const certificateNotices = (s) => ending(s).filter((c) => !c.not_after || c.days_left >= (s.problem_limits?.days_left ?? 0)).slice(0, 5).map((c) => c.not_after
    ? `The certificate for ${someNames(c)} expires in ${many(c.days_left, "day")}.` : `There is no certificate for ${someNames(c)} yet: handshakes for it fail.`);

  const brief = (v) => {
    if (v >= 1) return span(v);
    return v >= 0.001 ? digits(v * 1000, v < 0.1 ? 1 : 0) + " ms" : digits(v * 1e6, 0) + " µs";
  };
