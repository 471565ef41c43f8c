"use strict";
// Shows what the admin listener says. It asks /status once, and follows /events from then on. Everything that comes from the listener
// becomes text.
(() => {
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);
  const setText = (node, text) => { if (node.textContent !== text) node.textContent = text; };

  // ---- Numbers as people read them ----

  const grouped = new Intl.NumberFormat("en", {maximumFractionDigits: 0});
  const plain = (v) => grouped.format(v);
  const digits = (v, most) => new Intl.NumberFormat("en", {maximumFractionDigits: most}).format(v);
  const bytes = (v) => {
    const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let n = 0;
    for (; Math.abs(v) >= 1024 && n < units.length - 1; n++) v /= 1024;
    return digits(v, n === 0 ? 0 : 1) + " " + units[n];
  };
  const ratio = (v) => (v !== 0 && Math.abs(v) < 0.01 ? String(Number((100 * v).toPrecision(2))) : digits(100 * v, 1)) + " %";
  const span = (v) => {
    if (v < 60) return digits(v, v < 10 ? 1 : 0) + " s";
    const d = Math.floor(v / 86400), h = Math.floor(v % 86400 / 3600), m = Math.floor(v % 3600 / 60), s = Math.floor(v % 60);
    if (d) return `${d} d ${h} h`;
    return h ? `${h} h ${m} min` : `${m} min ${s} s`;
  };
  const word = (v) => String(v);

  // ---- Places in documents ----

  // A datum is a value of /status, the place where it stands, and how it is written. Where the place has none it is a dash. The place of a value
  // of another document begins with the path of that and #.
  const pointer = (path) => path.map((p) => "/" + String(p).replaceAll("~", "~0").replaceAll("/", "~1")).join("");
  const find = (status, path) => path.reduce((at, p) => at?.[p], status);
  const reader = (status, name = "") => (format, ...path) => ({value: find(status, path), path: name + pointer(path), format});

  const write = (node, cell) => {
    if (typeof cell !== "object") return setText(node, String(cell));
    if (Array.isArray(cell)) return writeParts(node, cell);
    if (cell.action) return writeAction(node, cell);
    let data = node.firstElementChild;
    if (!data) node.replaceChildren(data = document.createElement("data"));
    if (data.dataset.path !== cell.path) data.dataset.path = cell.path;
    const there = cell.value !== undefined && cell.value !== null;
    const value = there ? String(cell.value) : "";
    if (data.value !== value) data.value = value;
    setText(data, there ? cell.format(cell.value) : "–");
  };

  // writeParts writes several values and the words between them.
  const writeParts = (node, parts) => {
    if (node.children.length !== parts.length) node.replaceChildren(...parts.map(() => document.createElement("span")));
    parts.forEach((part, i) => write(node.children[i], part));
  };

  // writeAction writes a button. Its name says in full what its text says in a word.
  const writeAction = (node, {action, name, does}) => {
    const button = node.firstElementChild ?? node.appendChild(document.createElement("button"));
    button.type = "button";
    setText(button, action);
    if (button.getAttribute("aria-label") !== name) button.setAttribute("aria-label", name);
    button.onclick = does;
  };

  // ---- Tables and facts, changed in place so that what is selected or focused stays ----

  const fill = (id, rows, numbers, words = Infinity) => { // the columns of numbers begin at the one, and end before the other
    const body = byId(id);
    const box = body.closest(".table");
    box.hidden = rows.length === 0;
    while (body.rows.length > rows.length) body.deleteRow(-1);
    rows.forEach((row, i) => {
      const tr = body.rows[i] ?? body.insertRow();
      row.forEach((cell, n) => {
        if (!tr.cells[n]) {
          const node = document.createElement(n === 0 ? "th" : "td");
          if (n === 0) node.scope = "row";
          if (n >= numbers && n < words) node.className = "number";
          tr.append(node);
        }
        write(tr.cells[n], cell);
      });
    });
    const none = byId(id + "-none");
    if (none) none.hidden = rows.length > 0;
  };

  const facts = (id, pairs) => {
    const list = byId(id);
    pairs.forEach(([name, cell], i) => {
      let box = list.children[i];
      if (!box) {
        box = document.createElement("div");
        box.append(document.createElement("dt"), document.createElement("dd"));
        list.append(box);
      }
      setText(box.firstElementChild, name);
      if (cell !== null) write(box.lastElementChild, cell);
    });
    while (list.children.length > pairs.length) list.lastElementChild.remove();
  };

  // ---- The sections ----

  const showHead = (s) => {
    setText(byId("node"), s.node ?? "");
    const wrong = s.problems?.length > 0 ? many(s.problems.length, "problem") + " – " : "";
    document.title = wrong + (s.node ? s.node + " – " : "") + "edgeproxy";
    setText(byId("about"), `Version ${s.version}, up for ${span(s.uptime_seconds)}, listening on ${(s.addresses ?? []).join(", ")}.`);
  };

  // showNotices says what is no problem, but worth knowing: the problems are told above.
  const mostNotices = 10;
  const showNotices = (s) => {
    const said = [];
    if (!s.ready) said.push("The proxy is not ready for traffic: /readyz answers 503.");
    if (s.config && !s.config.last_reload_successful) said.push("The last reload failed; the configuration before it stays in force: " + (s.config.error ?? ""));
    for (const c of s.config?.needs_restart ?? []) said.push(`Needs a restart: ${c.path}: ${c.old} → ${c.new}`);
    said.push(...originNotices(s));
    if (s.requests?.panics > 0) said.push(`${plain(s.requests.panics)} requests ended with an internal error; the log has them.`);
    if (s.admission?.gate_open) said.push("The cache is nearly empty, so every storable response is stored (admission.warm_up_below).");
    said.push(...certificateNotices(s));
    const list = byId("notices");
    root.toggleAttribute("data-notices", said.length > 0);
    if (said.length > mostNotices) said.splice(mostNotices, said.length, `${plain(said.length - mostNotices)} more: see /status.`);
    while (list.children.length > said.length) list.lastElementChild.remove();
    said.forEach((text, i) => setText(list.children[i] ?? list.appendChild(document.createElement("li")), text));
  };

  const showTraffic = (s, at) => {
    facts("traffic-facts", [
      ["requests", at(plain, "requests", "totals", "requests")],
      ["hit ratio by requests", at(ratio, "requests", "totals", "hit_ratio")],
      ["hit ratio by bytes", at(ratio, "requests", "totals", "byte_hit_ratio")],
      ["bytes of bodies", at(bytes, "requests", "totals", "response_bytes")],
      ["requests in flight", at(plain, "requests", "requests_in_flight")],
      ["bytes in flight", at(bytes, "requests", "inflight_bytes")],
      ["shared fetches in progress", at(plain, "requests", "flights")],
      ["requests that shared a fetch", at(plain, "requests", "totals", "collapsed")],
    ]);
    fill("results", Object.keys(s.requests?.totals?.results ?? {}).map((name) => [
      name, at(plain, "requests", "totals", "results", name), at(bytes, "requests", "totals", "result_bytes", name),
    ]), 1);
    fill("routes", (s.requests?.routes ?? []).map((r, i) => {
      const of = (format, ...path) => at(format, "requests", "routes", i, ...path);
      return [r.route ?? "", r.policy ?? "", of(plain, "requests"), of(ratio, "lately", "error_ratio"), of(ratio, "hit_ratio"), of(ratio, "byte_hit_ratio"), of(plain, "collapsed"),
        of(plain, "fills", "stored"), of(plain, "fills", "saved"), of(plain, "fills", "regret")];
    }), 2);
  };

  // What was avoided never stands alone: what it cost the origin is in the next row.
  const showBill = (s, at) => {
    const of = (name) => [at(plain, "requests", "totals", "fills", name), at(bytes, "requests", "totals", "fills", name + "_bytes")];
    fill("bill", [
      ["held back by admission", ...of("held_back")],
      ["writes avoided (estimate)", ...of("saved")],
      ["their cost: fetched from the origin again", ...of("regret")],
      ["promoted from the stage, and so written", ...of("promoted")],
    ], 1);
    byId("measured-note").hidden = !(s.admission?.shadow ?? []).some((p) => p.policy === "always");
  };

  const showWindow = (s, at) => {
    const all = s.filters ?? [];
    const each = (row) => all.map((f, i) => [f.name, ...row((format, ...path) => at(format, "filters", i, ...path))]);
    fill("filters", each((of) => [of(span, "window_seconds"), of(plain, "window_keys"), of(plain, "window_objects"), of(bytes, "bytes")]), 1);
    fill("errors", each((of) => [
      of(ratio, "false_positive_ratio_expected"), of(ratio, "measured", "false_positive_ratio"), of(plain, "measured", "ratio_unseen"),
      of(ratio, "measured", "false_positive_ratio_expected"), of(plain, "measured", "false_negatives"),
    ]), 1);
    fill("generations", all.flatMap((f, i) => (f.generations ?? []).map((_, n) => {
      const of = (format, name) => at(format, "filters", i, "generations", n, name);
      return [f.name, String(n), of(ratio, "fill_ratio"), of(plain, "keys"), of(span, "age_seconds")];
    })), 1);
    fill("rotations", each((of) => ["time", "full", "fitted"].map((cause) => of(plain, "rotations", cause))), 1);
  };

  // inForce returns the policies of the routes.
  const inForce = (s) => [...new Set((s.requests?.routes ?? []).map((r) => r.policy).filter(Boolean))].join(", ");

  const showShadows = (s, at) => fill("shadows", (s.admission?.shadow ?? []).map((p, i) => {
    const of = (format, name) => at(format, "admission", "shadow", i, name);
    return [p.policy === "live" ? `live (${inForce(s)})` : p.policy, of(ratio, "hit_ratio"), of(ratio, "byte_hit_ratio"), of(plain, "writes"), of(bytes, "write_bytes"),
      of(plain, "origin_requests"), of(bytes, "origin_bytes"), of(plain, "sampled_requests")];
  }), 1);

  const showReasons = (s, at) => {
    const reasons = Object.entries(s.requests?.not_stored ?? {}).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
    fill("reason-rows", reasons.map(([name]) => [name, at(plain, "requests", "not_stored", name)]), 1);
    byId("reasons-none").hidden = reasons.length > 0;
  };

  // {{limits}}
  // {{tiles}}
  // {{tiers}}
  // {{origins}}
  // {{views}}

  // {{charts}}
  // ---- What is shown, and how old it is ----

  let latest = null, came = 0, paused = false;

  const show = () => {
    const s = latest, at = reader(s);
    byId("figures").hidden = false;
    for (const part of [showHead, showProblems, showTiles, showNotices, showTraffic, showClasses, showBill, showWindow, showTiers, showShadows, showOrigins, showReasons]) part(s, at);
    for (const part of [showLimits, showCertificates, showAlarms]) part(s, at);
  };

  const take = (status) => {
    latest = status;
    came = performance.now();
    try {
      if (!paused) show();
    } catch (e) { // a fault of this page is none of the stream
      reportError(e);
    }
  };

  // The state is said aloud when it changes. The age of the figures changes each second, and is not.
  const link = (state, text) => {
    root.dataset.link = state;
    setText(byId("link"), text);
  };
  const showAge = () => {
    const age = came === 0 ? 0 : (performance.now() - came) / 1000;
    setText(byId("age"), age > 3 ? `The figures are ${span(Math.floor(age))} old.` : "");
  };
  setInterval(showAge, 1000);

  byId("pause").addEventListener("click", (e) => {
    paused = !paused;
    e.target.setAttribute("aria-pressed", String(paused));
    if (!paused && latest) show();
    list();
    recall();
  });

  // ---- The token: in this tab alone, and only where the listener wants one ----

  const place = "edgeproxy-admin-token";
  let token = "";
  try { token = sessionStorage.getItem(place) ?? ""; } catch { /* a browser that keeps nothing: it is asked for anew */ }

  const keep = (text) => {
    token = text;
    try {
      if (text) sessionStorage.setItem(place, text);
      else sessionStorage.removeItem(place);
    } catch { /* as above */ }
    byId("forget").hidden = !text;
  };
  keep(token);

  class Refused extends Error {}

  // ask sends a request with the token. An answer that is no success is an error with what the listener says.
  const ask = async (path, options = {}) => {
    const headers = {...options.headers, ...(token ? {Authorization: "Bearer " + token} : {})};
    const answer = await fetch(path, {...options, headers, cache: "no-store", redirect: "error", credentials: "omit"});
    if (answer.ok) return answer;
    let why = "status " + answer.status;
    try { why = (await answer.json()).error ?? why; } catch { /* no JSON: the status has to do */ }
    throw answer.status === 401 || answer.status === 403 ? new Refused(why) : new Error(why);
  };

  const send = async (path, order) => (await ask(path, {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(order)})).json();

  const tellFault = (said, fault) => {
    said.className = "fault";
    setText(said, fault.name === "TypeError" ? "The listener cannot be reached." : `The listener says: ${fault.message}.`);
  };

  // ---- What changes something is confirmed ----

  let act = null; // what is done once it is confirmed
  const confirm = (title, what, values, yes, does) => {
    act = does;
    setText(byId("confirm-h"), title);
    setText(byId("confirm-what"), what);
    setText(byId("confirm-yes"), yes);
    byId("confirm-values").replaceChildren(...values.map((text) => {
      const item = document.createElement("li");
      item.textContent = text;
      return item;
    }));
    byId("confirm").showModal();
    byId("confirm-no").focus();
  };
  byId("confirm-no").addEventListener("click", () => byId("confirm").close());
  byId("confirm").addEventListener("close", () => { act = null; });
  byId("confirm-yes").addEventListener("click", () => {
    const does = act;
    byId("confirm").close();
    does();
  });

  let locked = root.dataset.token === "required"; // the listener wants a token; a reload may change that
  let given = null; // resolves the promise of the token that is waited for
  const wantToken = (why) => new Promise((resolve) => {
    const had = token !== "";
    locked = true;
    keep("");
    link("locked", "The listener wants the admin token.");
    byId("token").hidden = false;
    byId("figures").hidden = true;
    setText(byId("token-why"), had ? "The listener refused: " + why + "." : "");
    byId("token-text").value = "";
    byId("token-text").focus();
    given = resolve;
  });

  byId("token-form").addEventListener("submit", (e) => {
    e.preventDefault();
    const text = byId("token-text").value.trim();
    if (!/^[\x21-\x7e]+$/.test(text)) {
      setText(byId("token-why"), "Want one word of ASCII, as in admin.token_file.");
      return;
    }
    keep(text);
    byId("token").hidden = true;
    given?.();
    given = null;
  });

  // ---- Most requested, and requests in progress: read only while their view is shown ----

  let most = null;
  const showMost = () => {
    const by = byId("most-by").value, at = reader(most, "/top#"), format = by === "bytes" ? bytes : plain, on = most.entries > 0;
    byId("most-off").hidden = on;
    byId("most-on").hidden = !on;
    if (!on) return;
    setText(byId("most-note"), `Of the last ${span(Math.floor(most.seconds))}. The true count is between the two, which are at most 1/${plain(most.entries)} of all apart.` +
      (most.dropped > 0 ? ` ${plain(most.dropped)} requests were not counted, because others were being counted at that moment.` : ""));
    for (const kind of ["hosts", "urls"]) {
      const all = most[kind]?.[by];
      fill("most-" + kind, (all?.rows ?? []).map((r, i) => [
        r.name + (r.cut ? "…" : ""), at(format, kind, by, "rows", i, "at_least"), at(format, kind, by, "rows", i, "at_most"), ratio(r.at_least / Math.max(all.total, 1)),
      ]), 1);
    }
  };
  byId("most-by").addEventListener("change", () => { if (most) showMost(); });

  const showRunning = (running) => {
    const at = reader(running, "/requests#");
    write(byId("running-total"), at(plain, "total"));
    fill("running-rows", running.requests.map((r, i) => {
      const of = (format, name) => at(format, "requests", i, name);
      return [r.scheme + "://" + r.host + r.target + (r.cut ? "…" : ""), of(word, "method"), of(word, "phase"), of(word, "client"), of(word, "route"), of(span, "age_seconds"), of(bytes, "bytes")];
    }), 5);
  };

  const listEvery = 2000;
  let listing = false;
  const list = async () => {
    const path = {most: "/top", running: "/requests"}[view.id], said = byId("lists-said");
    if (!path) setText(said, "");
    if (!path || listing || paused || document.hidden || root.dataset.link !== "live") return;
    listing = true;
    try {
      const got = await (await ask(path, {signal: AbortSignal.timeout(silence)})).json();
      setText(said, "");
      if (paused) return;
      if (path === "/requests") return showRunning(got);
      most = got;
      showMost();
    } catch (fault) { // what is refused, or cannot be reached, the stream tells
      if (!(fault instanceof Refused) && fault.name !== "TypeError" && fault.name !== "TimeoutError") setText(said, `The listener says: ${fault.message}.`);
    } finally {
      listing = false;
    }
  };
  setInterval(list, listEvery);

  // ---- Look-up ----

  const linesOf = (id) => byId(id).value.split("\n").map((line) => line.trim()).filter(Boolean);

  // What the answer of GET /lookup says, as pairs of a name and a text.
  const lookupPairs = (a) => {
    const pairs = [["route", a.route], ["policy", a.policy], ["origin", a.origin]];
    if (a.key) pairs.push(["key", a.key.url], ["part", a.key.part], ["varies by", a.key.vary?.join(", ")], ["variant", a.key.variant], ["hash", a.key.hash]);
    if (a.key && a.key.counted_by !== a.key.hash) pairs.push(["counted by", a.key.counted_by]);
    if (a.sightings) pairs.push(["sightings within the window", a.sightings.counted || a.sightings.within_window === 0 ? plain(a.sightings.within_window) : "one or more"]);
    const s = a.stored;
    pairs.push(["stored", s ? `in the tier ${s.tier}` : a.key && "no"]);
    if (s) {
      pairs.push(["status", String(s.status)], ["body", bytes(s.bytes)], ["age", span(Math.max(0, s.age_seconds))],
        ["time to live", s.ttl_seconds >= 0 ? span(s.ttl_seconds) : `expired ${span(-s.ttl_seconds)} ago`], ["tags", [plain(s.tags), s.tag_names?.join(", ")].filter(Boolean).join(": ")],
        ["purged", {no: "no", soft: "soft: it is validated before it is used", yes: "yes, and not removed yet"}[s.purged] ?? s.purged]);
    }
    for (const v of a.variants ?? []) pairs.push(["stored variant", `${v.variant}, in the tier ${v.tier}`]);
    pairs.push(["next request", a.next?.result], ["reason", a.next?.reason]);
    return pairs.filter(([, text]) => text);
  };

  let asked = 0; // the last look-up: an answer to one before it is not shown
  byId("lookup-form").addEventListener("submit", async (e) => {
    e.preventDefault();
    const mine = ++asked, said = byId("lookup-said"), list = byId("lookup-answer");
    const query = new URLSearchParams({url: byId("lookup-url").value.trim(), method: byId("lookup-method").value});
    for (const line of linesOf("lookup-fields")) query.append("header", line);
    said.className = "";
    setText(said, "Looking.");
    list.replaceChildren();
    try {
      const answer = await (await ask("/lookup?" + query)).json();
      if (mine !== asked) return;
      setText(said, answer.next?.text ?? "");
      for (const [name, text] of lookupPairs(answer)) {
        const dt = document.createElement("dt"), dd = document.createElement("dd");
        dt.textContent = name;
        dd.textContent = text;
        list.append(dt, dd);
      }
    } catch (fault) {
      if (mine === asked) tellFault(said, fault);
    }
  });

  // ---- Purge ----

  const nouns = {url: "URL", prefix: "prefix", host: "host", tag: "tag"};
  const plural = (by, n) => n === 1 ? nouns[by] : by === "prefix" ? "prefixes" : nouns[by] + "s";

  byId("purge-form").addEventListener("submit", (e) => {
    e.preventDefault();
    const by = byId("purge-by").value, values = linesOf("purge-values"), soft = byId("purge-soft").checked;
    setText(byId("purge-said"), values.length === 0 ? "Want at least one value." : "");
    if (values.length === 0) return;
    confirm("Purge?", `The stored responses of ${values.length === 1 ? "this" : "these"} ${plural(by, values.length)} ${soft ? "become stale" : "are removed"}:`, values, "Purge", async () => {
      const said = byId("purge-said");
      said.className = "";
      setText(said, "Purging.");
      try {
        const answer = await send("/purge", {[by]: values, soft});
        setText(said, (answer.soft ? "Made stale" : "Purged") + (answer.objects === null ? ". The number of objects is not known." : `: ${plain(answer.objects)} object${answer.objects === 1 ? "" : "s"}.`));
        byId("purge-values").value = "";
      } catch (fault) {
        tellFault(said, fault);
      }
    });
  });

  // ---- The stream ----

  const silence = 10000; // after so many milliseconds without an event the stream is taken for dead
  let stream = null, wake = null;

  const pause = (ms) => new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    wake = () => { clearTimeout(timer); resolve(); };
  });

  // events reads server-sent events (WHATWG HTML section 9.2) by hand, since EventSource sends no Authorization.
  async function* events(body, alive) {
    const from = body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "", data = [];
    for (;;) {
      const {value, done} = await from.read();
      if (done) return;
      alive();
      const lines = (text + value).split("\n");
      text = lines.pop();
      for (const raw of lines) {
        const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
        if (line.startsWith("data:")) data.push(line.slice(line[5] === " " ? 6 : 5));
        if (line !== "" || data.length === 0) continue;
        yield JSON.parse(data.join("\n"));
        data = [];
      }
    }
  }

  // follow shows the status, and then each event until the stream ends, which throws.
  const follow = async (good) => {
    stream = new AbortController();
    const here = stream;
    let timer = setTimeout(() => here.abort(), silence);
    const alive = () => { clearTimeout(timer); timer = setTimeout(() => here.abort(), silence); };
    try {
      take(await (await ask("/status", {signal: here.signal})).json());
      const answer = await ask("/events", {signal: here.signal});
      link("live", "Live.");
      list();
      recall();
      for await (const status of events(answer.body, alive)) {
        take(status);
        good();
      }
    } finally {
      clearTimeout(timer);
      here.abort();
    }
    throw new Error("the stream has ended");
  };

  const first = 1000, longest = 30000;
  const run = async () => {
    for (let wait = first; ;) {
      try {
        if (locked && !token) throw new Refused("no token"); // known without a 401, which the console would show as an error
        await follow(() => { wait = first; });
      } catch (e) {
        if (e instanceof Refused) {
          await wantToken(e.message);
          link("wait", "Connecting.");
          continue;
        }
        const why = e.name === "AbortError" ? "nothing came for a while" : e.name === "TypeError" ? "the listener cannot be reached" : e.message;
        link("lost", `Not live: ${why}. Trying again.`);
        await pause(wait * (0.75 + Math.random() / 4));
        wait = Math.min(2 * wait, longest);
      }
    }
  };

  byId("forget").addEventListener("click", () => {
    keep("");
    stream?.abort();
    wake?.();
  });
  addEventListener("online", () => wake?.());
  document.addEventListener("visibilitychange", () => { if (!document.hidden) wake?.(); });

  turn(false);
  run();
})();
