"use strict";
// Draws every figure of the page with uPlot. The points come from the JSON in
// the figure, the words for a point from its table: row i of the table is index
// i of the points.
(() => {
  const root = document.documentElement;
  const palette = 8, dashes = [[], [8, 4], [2, 3]], height = 360, near = 24;

  addEventListener("error", (e) => { root.dataset.error = e.message; });

  const css = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const color = (i) => css("--s" + i % palette);
  const dash = (i) => dashes[Math.floor(i / palette) % dashes.length];

  // How the marks of an axis are written. A linear axis takes its steps from
  // here too, for a step of 1000 bytes or 100 seconds is no round one.
  const short = (v) => String(Number(v.toPrecision(6)));
  const scaled = (v, base, names, sep) => {
    let n = 0;
    for (; Math.abs(v) >= base && n < names.length - 1; n++) v /= base;
    return short(v) + sep + names[n];
  };
  const powers = (base, from, to) => Array.from({length: to - from}, (_, i) => base ** (from + i));
  const seconds = (v) => {
    const a = Math.abs(v);
    if (a === 0) return "0";
    if (a < 0.9999e-3) return short(v * 1e6) + " µs";
    if (a < 0.9999) return short(v * 1e3) + " ms";
    if (a < 60) return short(v) + " s";
    const h = Math.floor(a / 3600), m = Math.floor(a % 3600 / 60), s = Math.round(a % 60);
    return (v < 0 ? "-" : "") + (h ? h + "h" : "") + (m ? m + "m" : "") + (s ? s + "s" : "");
  };
  const units = {
    // All marks of an axis have one unit, where there are no powers between them.
    plain: {text: (v, most) => {
      if (most < 1e4) return short(v);
      const names = ["", "k", "M", "G", "T"], n = v === 0 ? 0 : Math.min(Math.floor(Math.log10(most) / 3), names.length - 1);
      return short(v / 1000 ** n) + names[n];
    }},
    percent: {text: (v) => short(v * 100) + " %"},
    bytes: {text: (v) => scaled(v, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"], " "), steps: powers(2, 0, 60)},
    seconds: {
      text: seconds,
      steps: [...powers(10, -9, 1).flatMap((p) => [p, 2 * p, 5 * p]).filter((s) => s < 15), 15, 30,
        ...[1, 2, 5, 10, 15, 30, 60, 120, 240, 360, 720, 1440, 2880, 7200, 14400].map((m) => 60 * m)],
    },
  };

  // The y axis is as wide as its widest mark.
  const width = (u, values, axis, cycle) => {
    const a = u.axes[axis];
    if (cycle > 1) return a._size;
    u.ctx.font = a.font[0];
    const widest = Math.max(0, ...(values ?? []).map((v) => u.ctx.measureText(v ?? "").width));
    return Math.ceil(widest / devicePixelRatio) + a.ticks.size + a.gap;
  };

  // Half of the widest mark of the x axis has to fit beside the last one.
  const beside = (u) => {
    u.ctx.font = u.axes[0].font[0];
    const widest = Math.max(0, ...(u.axes[0]._values ?? []).map((v) => u.ctx.measureText(v ?? "").width));
    return Math.ceil(widest / devicePixelRatio / 2) + 2;
  };

  const logOf = (a) => a.unit === "bytes" ? Math.log2 : Math.log10;

  // Where marks would lie on each other only every second is written, or every third
  // and so on; of a logarithmic axis, of the whole powers.
  const apart = (u, a, vertical, splits, texts) => {
    const {min, max} = u.scales[vertical ? "y" : "x"], at = a.log ? logOf(a) : (v) => v;
    const length = (vertical ? u.bbox.height : u.bbox.width) / devicePixelRatio;
    if (!(at(max) > at(min) && length > 0)) return texts;
    u.ctx.font = u.axes[vertical ? 1 : 0].font[0];
    const size = (text) => vertical ? 16 : u.ctx.measureText(text).width / devicePixelRatio + 8;
    for (let n = 1; ; n++) {
      const kept = texts.map((text, i) => n === 1 || !a.log && i % n === 0 ||
        a.log && Math.round(at(splits[i])) % (n - 1) === 0 && Math.abs(at(splits[i]) - Math.round(at(splits[i]))) < 1e-9 ? text : null);
      let end = -Infinity, fits = true;
      kept.forEach((text, i) => {
        if (text === null) return;
        const middle = (at(splits[i]) - at(min)) / (at(max) - at(min)) * length, half = size(text) / 2;
        fits &&= middle - half >= end;
        end = middle + half;
      });
      if (fits || n > splits.length) return kept;
    }
  };

  // Over many powers the lines between them would be one grey.
  const whole = (log) => (u, splits) => splits.length < 50 ? splits : splits.map((v) => Number.isInteger(log(v)) ? v : null);

  const axisOf = (a, vertical) => {
    const unit = units[a.unit];
    const axis = {
      label: a.label, stroke: () => css("--soft"), font: "13px system-ui, sans-serif", labelFont: "13px system-ui, sans-serif",
      grid: {stroke: () => css("--grid"), width: 1}, ticks: {stroke: () => css("--grid"), width: 1, size: 6}, gap: 5,
      values: (u, splits) => {
        const most = Math.max(...splits.map((v) => Math.abs(v ?? 0)));
        return apart(u, a, vertical, splits, splits.map((v) => v === null ? null : unit.text(v, a.log ? Math.abs(v) : most)));
      },
    };
    if (unit.steps && !a.log) axis.incrs = unit.steps;
    if (a.log) axis.grid.filter = axis.ticks.filter = whole(logOf(a));
    Object.assign(axis, vertical ? {size: width, labelSize: 30, labelGap: 8} : {size: 34, labelSize: 24, space: 70});
    return axis;
  };

  const scaleOf = (a) => ({time: false, ...(a.log ? {distr: 3, log: a.unit === "bytes" ? 2 : 10} : {})});

  // A range without a margin puts the outer points of a scatter on the frame.
  const padded = (u, min, max) => {
    if (min === null) return [0, 1];
    const by = max > min ? (max - min) * 0.05 : Math.abs(max) * 0.1 || 1;
    return [min - by, max + by];
  };

  // Every label that has a free place beside its point is written there.
  const writeLabels = (grid) => (u) => {
    const r = devicePixelRatio, size = 12 * r, high = 15 * r, gap = 7 * r, ctx = u.ctx, box = u.bbox, taken = [];
    const free = ([x, y, w, h]) => x >= box.left && x + w <= box.left + box.width && y >= box.top && y + h <= box.top + box.height &&
      taken.every(([a, b, c, d]) => x + w < a || a + c < x || y + h < b || b + d < y);
    const points = [];
    grid.ys.forEach((ys, s) => u.series[s + 1].show && ys.forEach((y, i) => {
      if (y !== null) points.push([u.valToPos(grid.xs[i], "x", true), u.valToPos(y, "y", true), grid.labels[i]]);
    }));
    for (const [x, y] of points) taken.push([x - gap / 2, y - gap / 2, gap, gap]);
    ctx.save();
    ctx.font = `${size}px system-ui, sans-serif`;
    ctx.fillStyle = css("--ink");
    ctx.textAlign = "left";
    ctx.textBaseline = "top";
    for (const [x, y, label] of points) {
      if (!label) continue;
      const w = ctx.measureText(label).width;
      const spot = [[x + gap, y - size / 2], [x - gap - w, y - size / 2], [x - w / 2, y - gap - size], [x - w / 2, y + gap]]
        .map(([a, b]) => [a, b, w, high]).find(free);
      if (!spot) continue;
      taken.push(spot);
      ctx.fillText(label, spot[0], spot[1]);
    }
    ctx.restore();
  };

  // The point next to the mouse is told in a box beside it.
  const tellPoint = (grid, words) => {
    const tip = document.createElement("div");
    tip.className = "tip";
    return {
      init: (u) => { tip.hidden = true; u.over.appendChild(tip); },
      setCursor: (u) => {
        let best = near, at = null;
        grid.ys.forEach((ys, s) => u.series[s + 1].show && ys.forEach((y, i) => {
          if (y === null) return;
          const d = Math.hypot(u.valToPos(grid.xs[i], "x") - u.cursor.left, u.valToPos(y, "y") - u.cursor.top);
          if (d < best) { best = d; at = i; }
        }));
        tip.hidden = at === null;
        if (at === null) return;
        const [series, label, x, y] = words(at);
        tip.textContent = `${label ? series + ": " + label : series}\n${grid.x.label}: ${x}\n${grid.y.label}: ${y}`;
        const left = u.cursor.left + 14, top = u.cursor.top + 14;
        tip.style.left = Math.max(0, Math.min(left, u.over.clientWidth - tip.offsetWidth)) + "px";
        tip.style.top = Math.max(0, Math.min(top, u.over.clientHeight - tip.offsetHeight)) + "px";
      },
    };
  };

  const options = (grid, rows, width, drawn) => {
    const scatter = grid.kind === "scatter";
    const words = (i) => Array.from(rows[i].cells, (c) => c.textContent);
    const hooks = {draw: [...(scatter ? [writeLabels(grid)] : []), drawn]};
    if (scatter) for (const [name, hook] of Object.entries(tellPoint(grid, words))) hooks[name] = [hook];
    const scales = {x: scaleOf(grid.x), y: scaleOf(grid.y)};
    if (scatter) for (const [name, a] of [["x", grid.x], ["y", grid.y]]) if (!a.log) scales[name].range = padded;
    return {
      width, height, scales, hooks, padding: [null, beside, null, null],
      axes: [axisOf(grid.x, false), axisOf(grid.y, true)],
      legend: {live: !scatter},
      cursor: scatter ? {points: {show: false}} : {},
      series: [
        {label: grid.x.label, value: (_, v, s, i) => i === null ? "–" : words(i)[0]},
        ...grid.series.map((label, n) => ({
          label, stroke: () => color(n), width: scatter ? 1 : 2, dash: dash(n), spanGaps: true,
          value: (_, v, s, i) => i === null ? "–" : words(i)[s] || "–",
          ...(scatter ? {paths: () => null, points: {show: true, size: 9, fill: () => color(n)}} : {points: {fill: () => css("--paper")}}),
        })),
      ],
    };
  };

  const figures = Array.from(document.querySelectorAll("figure.chart"), (figure) => ({
    figure, target: figure.querySelector(".plot"), rows: figure.querySelector("details tbody").rows,
    grid: JSON.parse(figure.querySelector("script").textContent), plot: null, drawn: false,
  }));

  const drawOne = (f, width) => {
    f.plot?.destroy();
    f.plot = new uPlot(options(f.grid, f.rows, width, () => {
      f.drawn = true;
      if (figures.every((other) => other.drawn)) root.dataset.charts = "drawn";
    }), [f.grid.xs, ...f.grid.ys], f.target);
  };
  const draw = (width) => {
    for (const f of figures) if (f.plot) drawOne(f, width ?? f.target.clientWidth);
  };

  // A chart that cannot be drawn leaves the others and its own table alone.
  for (const f of figures) {
    const hint = document.createElement("p");
    hint.className = "hint";
    hint.textContent = "Drag to look closer, double-click for all of it; click a name to hide its series.";
    try {
      drawOne(f, f.target.clientWidth);
    } catch (e) {
      root.dataset.error = String(e);
      hint.textContent = "This chart could not be drawn; the numbers are below.";
    }
    f.target.after(hint);
  }

  const sizes = new ResizeObserver(() => {
    for (const f of figures) {
      const width = f.target.clientWidth;
      if (f.plot && width > 0 && width !== f.plot.width) f.plot.setSize({width, height});
    }
  });
  for (const f of figures) sizes.observe(f.target);

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw());
  // Paper is light, and narrower than the window.
  addEventListener("beforeprint", () => { root.classList.add("printing"); draw(680); });
  addEventListener("afterprint", () => { root.classList.remove("printing"); draw(); });
})();
