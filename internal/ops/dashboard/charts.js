  // ---- The last hour, as the proxy remembers it. All curves have its clock, and are full when the page is opened ----

  let past = null; // the document of /status/history
  const hour = 3600, least = 600, recallEvery = 10000; // what the axis shows at most and at least, in seconds

  // The layers of the stacked curves, from the bottom, with their colours.
  const layers = {
    results: [["hit", "--hit"], ["revalidated", "--revalidated"], ["stale", "--stale"], ["miss", "--miss"], ["held_back", "--held"], ["pass", "--pass"], ["error", "--bad"]],
    status_classes: [["1xx", "--stale"], ["2xx", "--hit"], ["3xx", "--pass"], ["4xx", "--miss"], ["5xx", "--bad"], ["none", "--ink"]],
  };
  const counted = (kind, name, i) => past?.[kind]?.[name]?.[i] ?? 0;
  const ends = () => past?.end ?? [];

  // stacked returns the values of the layers, and what each layer reaches up to.
  const stacked = (kind) => {
    const values = layers[kind].map(([name]) => ends().map((_, i) => counted(kind, name, i) / (past.seconds[i] || 1)));
    const tops = values.map(() => []);
    ends().forEach((_, i) => values.reduce((sum, layer, n) => (tops[n][i] = sum + layer[i]), 0));
    return {values, tops};
  };

  const css = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const clock = (t) => new Date(t * 1000).toTimeString().slice(0, 5);
  const height = 220;

  const chart = (id, format, series, {top, ...others}) => {
    const target = byId(id);
    const axis = {stroke: () => css("--soft"), font: "12px system-ui, sans-serif", grid: {stroke: () => css("--grid"), width: 1}, ticks: {stroke: () => css("--grid"), width: 1}};
    return new uPlot({
      width: Math.max(target.clientWidth, 1), height: height - 30,
      scales: {
        x: {time: true, range: () => [Math.min(Math.max(ends().at(-1) - hour, ends()[0] - 10), ends().at(-1) - least), ends().at(-1)]},
        y: {range: (u, min, max) => [0, top ?? Math.max(1, (max ?? 0) * 1.1)]},
      },
      axes: [{...axis, space: 60, incrs: [60, 120, 300, 600, 900], values: (u, splits) => splits.map(clock)}, {...axis, size: 56, values: (u, splits) => splits.map(format)}],
      cursor: {drag: {x: false, y: false}},
      series: [{label: "time", value: (u, v) => v === null ? "–" : new Date(v * 1000).toTimeString().slice(0, 8)}, ...series],
      ...others,
    }, [[], ...series.map(() => [])], target);
  };
  const dash = (v, format) => v === null || v === undefined ? "–" : format(v);
  const rate = (v) => digits(v, 1);

  const lines = (id, format, names, top, data) => ({
    plot: chart(id, format, names.map((label, i) => ({
      label, stroke: () => css("--s" + i), width: 2, dash: i === 0 ? [] : [6, 4], points: {show: false}, value: (u, v) => dash(v, format),
    })), {top}),
    show() { this.plot.setData([ends(), ...data()]); },
  });
  const stack = (id, kind) => {
    let values = [];
    const colour = (u, n) => css(layers[kind][n - 1]?.[1] ?? "--ink");
    return {
      plot: chart(id, rate, layers[kind].map(([name], n) => ({
        label: name === "none" ? "no answer" : name, stroke: () => css("--paper"), fill: colour, width: 1, points: {show: false},
        value: (u, v, at, i) => dash(values[n]?.[i ?? values[n].length - 1], rate), // the newest where the mouse is elsewhere
      })), {
        bands: layers[kind].slice(1).map((_, n) => ({series: [n + 2, n + 1]})),
        legend: {markers: {width: 0, fill: colour}},
      }),
      show() {
        const all = stacked(kind);
        values = all.values;
        this.plot.setData([ends(), ...all.tops]);
      },
    };
  };

  let charts = [];
  const showCharts = () => {
    if (ends().length === 0) return;
    if (charts.length === 0) {
      charts = [
        stack("result-plot", "results"), stack("class-plot", "status_classes"),
        lines("ratio-plot", ratio, ["by requests", "by bytes"], 1, () => [past.hit_ratio, past.byte_hit_ratio]),
      ];
    }
    for (const c of charts) c.show();
  };
  const sizes = new ResizeObserver(() => {
    for (const {plot} of charts) {
      const width = plot.root.parentElement.clientWidth;
      if (width > 0 && width !== plot.width) plot.setSize({width, height: height - 30});
    }
  });
  for (const plot of document.querySelectorAll(".plot")) sizes.observe(plot);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const {plot} of charts) plot.destroy(); // its legend has the colours of before
    charts = [];
    showCharts();
  });

  // byMinute returns the counts of a kind by minute, the newest first.
  const byMinute = (kind) => {
    const minutes = new Map();
    ends().forEach((end, i) => {
      const minute = Math.floor((end - past.seconds[i] / 2) / 60);
      if (!minutes.has(minute)) minutes.set(minute, layers[kind].map(() => 0));
      layers[kind].forEach(([name], n) => { minutes.get(minute)[n] += counted(kind, name, i); });
    });
    return [...minutes].reverse();
  };
  const showMinutes = () => {
    if (byId("past-details").open) fill("past", byMinute("status_classes").map(([minute, counts]) => [clock(minute * 60), ...counts.map(plain)]), 1);
    if (!byId("minutes-details").open) return;
    fill("minutes", byMinute("results").map(([minute, counts]) => {
      const all = counts.reduce((sum, n) => sum + n, 0), [hit, revalidated, stale] = counts, judged = all - counts.at(-1);
      return [clock(minute * 60), plain(all), judged > 0 ? ratio((hit + revalidated + stale) / judged) : "–", ...counts.map(plain)];
    }), 1);
  };
  for (const id of ["past-details", "minutes-details"]) byId(id).addEventListener("toggle", showMinutes);

  const recall = async () => {
    if (paused || (document.hidden && past) || root.dataset.link !== "live") return;
    try {
      const got = await (await ask("/status/history", {signal: AbortSignal.timeout(silence)})).json();
      setText(byId("past-said"), "");
      if (paused) return;
      past = got;
      showCharts();
      showSparks();
      showMinutes();
    } catch (fault) { // what is refused, or cannot be reached, the stream tells
      if (!(fault instanceof Refused) && fault.name !== "TypeError" && fault.name !== "TimeoutError") setText(byId("past-said"), `The listener says: ${fault.message}.`);
    }
  };
  setInterval(recall, recallEvery);

