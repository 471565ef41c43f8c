  // ---- What is wrong now, and the rates of the last minute ----

  const many = (n, one) => `${plain(n)} ${one}${n === 1 ? "" : "s"}`;

  const showProblems = (s, at) => {
    const all = s.problems ?? [], list = byId("problem-rows");
    byId("problems").hidden = all.length === 0;
    if (all.length > 0) root.dataset.problems = String(all.length);
    else delete root.dataset.problems;
    setText(byId("problems-said"), all.length > 0 ? many(all.length, "problem") + "." : "");
    while (list.children.length > all.length) list.lastElementChild.remove();
    all.forEach((_, i) => writeParts(list.children[i] ?? list.appendChild(document.createElement("li")),
      [at(word, "problems", i, "what"), ": ", at(word, "problems", i, "where")]));
  };

  const mbit = (v) => digits(v * 8 / 1e6, 1) + " Mbit/s";

  // sparkline returns a curve without axes, of the last hour: what it says stands in the tables, so only eyes are shown it.
  const sparkline = () => {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", "0 0 100 20");
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("aria-hidden", "true");
    svg.append(document.createElementNS("http://www.w3.org/2000/svg", "polyline"));
    return svg;
  };
  const sparkPoints = (values) => {
    const most = Math.max(...values.filter((v) => v !== null), 0);
    return values.map((v, i) => v === null ? "" : `${(100 * i / Math.max(values.length - 1, 1)).toFixed(1)},${(19 - (most > 0 ? 18 * v / most : 0)).toFixed(1)}`).join(" ").trim();
  };

  // The curves of the tiles, in their order: what a step of the last hour has, null where it has nothing.
  const then = (name, i) => past[name]?.[i] ?? null;
  const each = (name, i, by) => then(name, i) === null || !(by > 0) ? null : then(name, i) / by;
  const all = (i) => Object.values(past.results ?? {}).reduce((n, column) => n + column[i], 0);
  const sparks = [
    (i) => all(i) / (then("seconds", i) || 1),
    (i) => then("hit_ratio", i),
    (i) => each("errors", i, all(i)),
    (i) => Math.max(then("saved", i), 0),
    (i) => each("origin_bytes", i, then("seconds", i)),
    (i) => then("p95_seconds", i),
  ];
  const showSparks = () => document.querySelectorAll("#tiles polyline").forEach((line, i) => {
    line.setAttribute("points", sparkPoints((past?.end ?? []).map((_, n) => sparks[i](n))));
  });

  const showTiles = (s, at) => {
    const lately = s.requests?.totals?.lately, any = lately?.requests > 0;
    const of = (format, name) => at(format, "requests", "totals", "lately", name);
    const hour = (format, name) => at(format, "requests", "totals", "last_hour", name);
    const tiles = [
      ["requests a second", [of((v) => digits(v, 1), "requests_per_second")]],
      ["hit ratio, last minute", [any ? of(ratio, "hit_ratio") : "–"]],
      ["errors, last minute", [of(ratio, "error_ratio")], lately?.error_ratio > s.problem_limits?.error_ratio && lately.requests >= s.problem_limits.requests],
      ["writes avoided, last hour", [hour(plain, "saved"), " for ", hour(plain, "regret"), " fetches more"]],
      ["from origins", [of(mbit, "origin_bytes_per_second")]],
      ["95 % of responses within", [any ? of(brief, "p95_seconds") : "–"]],
    ];
    facts("tiles", tiles.map(([name]) => [name, null]));
    tiles.forEach(([, parts, bad], i) => {
      const box = byId("tiles").children[i], said = box.lastElementChild;
      if (said.children.length === 0) said.append(document.createElement("span"), sparkline());
      writeParts(said.firstElementChild, parts);
      if (bad) box.dataset.state = "bad";
      else delete box.dataset.state;
    });
    showSparks();
  };

  const showClasses = (s, at) => fill("classes", ["1xx", "2xx", "3xx", "4xx", "5xx", "none"].filter((name) => s.requests?.totals?.status_classes?.[name] > 0).map((name) => [
    name === "none" ? "no answer" : name, at(plain, "requests", "totals", "status_classes", name), at(plain, "requests", "totals", "lately", "status_classes", name),
  ]), 1);
