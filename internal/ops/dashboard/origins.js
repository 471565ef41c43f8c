  // ---- Origins and their servers ----

  const serversOf = (s, is) => (s.origins ?? []).reduce((n, o) => n + (o.servers ?? []).filter(is).length, 0);
  const originAlarm = (s) => {
    const drained = serversOf(s, (v) => v.state === "drained"), out = serversOf(s, isOut) - drained;
    return [out > 0 && plain(out) + " out", drained > 0 && plain(drained) + " drained"].filter(Boolean).join(", ");
  };

  // stateAction is the button that drains a server, or makes it ready again.
  const stateAction = (origin, v) => {
    const ready = v.state === "drained", which = `${v.address} of origin ${origin}`, action = ready ? "Ready" : "Drain";
    return {action, name: `${action}: ${which}`, does: () => confirm(ready ? "Ready?" : "Drain?",
      ready ? "This server gets requests again:" : "This server gets no new requests until it is ready again, or the proxy is restarted:", [which], action, async () => {
        const said = byId("origins-said");
        said.className = "";
        try {
          const is = await send("/origins", {origin, server: v.address, state: ready ? "ready" : "drain"});
          setText(said, `Server ${is.server} of origin ${is.origin} is ${is.state}.`);
        } catch (fault) {
          tellFault(said, fault);
        }
      })};
  };

  // isOut is that of the problems: a server whose trial is due waits for a request.
  const isOut = (v) => v.state === "down" || v.state === "drained" || (v.state === "ejected" && v.ejected_for_seconds > 0);

  // originNotices returns a line for each origin with servers that are out, but not of an origin without any: that is a problem.
  const originNotices = (s) => (s.origins ?? []).flatMap((o) => {
    const all = o.servers ?? [], out = all.filter(isOut);
    return out.length === 0 || all.every(isOut) ? [] : [`Origin ${o.name}: ${plain(out.length)} of ${many(all.length, "server")} out: ` +
      out.slice(0, 3).map((v) => `${v.address} is ${v.state}`).join(", ") + (out.length > 3 ? ", …" : "") + "."];
  });

  const showOrigins = (s, at) => {
    const all = s.origins ?? [];
    fill("servers", all.flatMap((o, i) => (o.servers ?? []).map((v, n) => {
      const of = (format, ...path) => at(format, "origins", i, "servers", n, ...path), check = v.last_check;
      return [o.name, of(word, "address"), [of(word, "state"), v.backup ? ", a backup" : "", ...(v.state === "ejected" ? [", next trial in ", of(span, "ejected_for_seconds")] : [])],
        ...["1xx", "2xx", "3xx", "4xx", "5xx", "none"].map((name) => of(plain, "status_classes_lately", name)), v.first_byte_mean_seconds_lately > 0 ? of(brief, "first_byte_mean_seconds_lately") : "–",
        [of(plain, "active_connections"), ", ", of(plain, "idle_connections"), ", ", of(plain, "upgraded_connections")], of(plain, "weight"),
        !check ? "–" : check.passed ? ["passed ", of(span, "last_check", "seconds_ago"), " ago"] : ["failed ", of(span, "last_check", "seconds_ago"), " ago: ", of(word, "last_check", "failure")],
        v.last_failure ? of(word, "last_failure") : "–", stateAction(o.name, v)];
    })), 3, 12);
    fill("first-bytes", all.map((o, i) => [o.name, at(plain, "origins", i, "queue_requests"), ...["first_byte_lately", "first_byte"].flatMap((field) => {
      const of = (name) => o[field]?.responses > 0 ? at(brief, "origins", i, field, name) : "–";
      return [at(plain, "origins", i, field, "responses"), of("mean_seconds"), of("p50_seconds"), of("p95_seconds")];
    })]), 1);
  };
