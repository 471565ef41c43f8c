  // ---- Origins and their servers ----

  const outOf = (s) => (s.origins ?? []).reduce((n, o) => n + (o.servers ?? []).filter((v) => v.state !== "up").length, 0);

  // originNotices returns a line for each origin with servers that are out.
  const originNotices = (s) => (s.origins ?? []).flatMap((o) => {
    const all = o.servers ?? [], out = all.filter((v) => v.state !== "up");
    return out.length === 0 ? [] : [`Origin ${o.name}: ${plain(out.length)} of ${many(all.length, "server")} out: ` +
      out.slice(0, 3).map((v) => `${v.address} is ${v.state}`).join(", ") + (out.length > 3 ? ", …" : "") + "."];
  });

  const showOrigins = (s, at) => {
    const all = s.origins ?? [];
    fill("servers", all.flatMap((o, i) => (o.servers ?? []).map((v, n) => {
      const of = (format, name) => at(format, "origins", i, "servers", n, name);
      const classes = (name) => at(plain, "origins", i, "servers", n, "status_classes_lately", name);
      return [o.name, of(word, "address"), of(word, "state"), v.state === "ejected" ? of(span, "ejected_for_seconds") : "–", classes("5xx"), classes("none"), of(plain, "weight"),
        of(plain, "active_connections"), of(plain, "idle_connections"), of(plain, "upgraded_connections")];
    })), 3);
    fill("first-bytes", all.map((o, i) => [o.name, at(plain, "origins", i, "queue_requests"), ...["first_byte_lately", "first_byte"].flatMap((field) => {
      const of = (name) => o[field]?.responses > 0 ? at(brief, "origins", i, field, name) : "–";
      return [at(plain, "origins", i, field, "responses"), of("mean_seconds"), of("p50_seconds"), of("p95_seconds")];
    })]), 1);
  };
