  // ---- What is wrong now, and the rates of the last minute ----

  // writeParts writes several values and the words between them.
  const writeParts = (node, parts) => {
    if (node.children.length !== parts.length) node.replaceChildren(...parts.map(() => document.createElement("span")));
    parts.forEach((part, i) => write(node.children[i], part));
  };

  const many = (n, one) => `${plain(n)} ${one}${n === 1 ? "" : "s"}`;

  const showProblems = (s, at) => {
    const all = s.problems ?? [], list = byId("problem-rows");
    byId("problems").hidden = all.length === 0;
    if (all.length > 0) root.dataset.problems = String(all.length);
    else delete root.dataset.problems;
    setText(byId("problems-said"), all.length > 0 ? many(all.length, "problem") : "");
    while (list.children.length > all.length) list.lastElementChild.remove();
    all.forEach((_, i) => writeParts(list.children[i] ?? list.appendChild(document.createElement("li")),
      [at(word, "problems", i, "what"), ": ", at(word, "problems", i, "where")]));
  };

  const tooManyErrors = 0.01; // share of the requests, as in /status
  const mbit = (v) => digits(v * 8 / 1e6, 1) + " Mbit/s";

  const showTiles = (s, at) => {
    const lately = s.requests?.totals?.lately, any = lately?.requests > 0;
    const of = (format, name) => at(format, "requests", "totals", "lately", name);
    const hour = (format, name) => at(format, "requests", "totals", "last_hour", name);
    const tiles = [
      ["requests per second", [of((v) => digits(v, 1), "requests_per_second")]],
      ["hit ratio of the last minute", [any ? of(ratio, "hit_ratio") : "–"]],
      ["errors of the last minute", [of(ratio, "error_ratio")], lately?.error_ratio > tooManyErrors],
      ["writes avoided in the last hour", [hour(plain, "saved"), " for ", hour(plain, "regret"), " fetches more"]],
      ["from origins", [of(mbit, "origin_bytes_per_second")]],
      ["95 % of responses within", [any ? of(brief, "p95_seconds") : "–"]],
    ];
    facts("tiles", tiles.map(([name]) => [name, null]));
    tiles.forEach(([, parts, bad], i) => {
      const box = byId("tiles").children[i];
      writeParts(box.lastElementChild, parts);
      if (bad) box.dataset.state = "bad";
      else delete box.dataset.state;
    });
  };

  const showClasses = (s, at) => fill("classes", ["1xx", "2xx", "3xx", "4xx", "5xx", "none"].filter((name) => s.requests?.totals?.status_classes?.[name] > 0).map((name) => [
    name === "none" ? "no answer" : name, at(plain, "requests", "totals", "status_classes", name), at(plain, "requests", "totals", "lately", "status_classes", name),
  ]), 1);
