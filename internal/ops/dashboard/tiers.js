  // ---- Tiers: how full each one is, what was written to it, and what it gave up ----

  const tiersOf = (s) => [["stage", s.cache?.stage, ["cache", "stage"]], ["memory", s.cache, ["cache"]], ["disk", s.cache?.disk, ["cache", "disk"]]].filter((t) => t[1]);

  const pairsOf = (list, pairs) => {
    const all = [...list.children];
    pairs.forEach(([name, parts], i) => {
      const dt = all[2 * i] ?? list.appendChild(document.createElement("dt")), dd = all[2 * i + 1] ?? list.appendChild(document.createElement("dd"));
      setText(dt, name);
      writeParts(dd, parts);
    });
    while (list.children.length > 2 * pairs.length) list.lastElementChild.remove();
  };

  const gauge = (box, [name, tier, path], at) => {
    if (box.children.length === 0) {
      box.className = "gauge";
      box.append(...["h3", "div", "p", "p", "dl"].map((kind) => document.createElement(kind)));
      box.children[1].className = "bar";
      box.children[1].setAttribute("role", "meter");
      box.children[1].append(document.createElement("div"));
      box.children[3].className = "trouble";
    }
    const [title, bar, fill, trouble, list] = box.children, of = (format, ...field) => at(format, ...path, ...field);
    setText(title, name);
    const share = tier.max_bytes > 0 ? Math.min(tier.bytes / tier.max_bytes, 1) : 0, percent = (100 * share).toFixed(1);
    const attributes = {"aria-label": name + ", bytes of its limit", "aria-valuemin": "0", "aria-valuemax": "100", "aria-valuenow": percent, "aria-valuetext": ratio(share)};
    for (const [key, value] of Object.entries(attributes)) if (bar.getAttribute(key) !== value) bar.setAttribute(key, value);
    bar.firstElementChild.style.width = percent + "%";
    writeParts(fill, [of(bytes, "bytes"), " of ", of(bytes, "max_bytes"), `, ${ratio(share)}`]);
    const off = [tier.trouble, ...(tier.directories ?? []).map((d) => d.trouble && `${d.path}: ${d.trouble}`)].filter(Boolean);
    setText(trouble, off.length > 0 ? "Not in use: " + off.join("; ") : "");
    trouble.hidden = off.length === 0;
    const age = (cause) => tier.eviction_age_seconds?.[cause] > 0 ? [", aged ", of(span, "eviction_age_seconds", cause)] : ["", ""];
    pairsOf(list, [
      ["objects", [of(plain, "objects"), ", ", of(plain, "objects_hit"), " of them hit"]],
      ["written", [of(bytes, "write_bytes"), " in ", of(plain, "writes"), " writes"]],
      ...Object.keys(tier.evictions ?? {}).filter((cause) => cause === "capacity" || tier.evictions[cause] > 0).map((cause) => [
        `evicted: ${cause}`, [of(plain, "evictions", cause), ...age(cause)]]),
      ["left otherwise", [of(plain, "replaced"), " replaced, ", of(plain, "purged"), " purged"]],
      ["left without a hit", [of(plain, "stores_never_hit")]],
    ]);
  };

  const showTiers = (s, at) => {
    const tiers = tiersOf(s), boxes = byId("gauges");
    while (boxes.children.length > tiers.length) boxes.lastElementChild.remove();
    tiers.forEach((tier, i) => gauge(boxes.children[i] ?? boxes.appendChild(document.createElement("section")), tier, at));
  };
