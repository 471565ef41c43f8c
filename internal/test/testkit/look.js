"use strict";
// Notes what is written on every canvas, and tells at the end what a reader of the
// page would miss: boxes that hide a part of what they hold, and marks of axes that
// lie on each other, leave their canvas or are too small.
(() => {
  const written = new Map();
  const proto = CanvasRenderingContext2D.prototype;
  const {fillText, clearRect} = proto;
  proto.clearRect = function (...box) {
    written.set(this.canvas, []);
    return clearRect.apply(this, box);
  };
  proto.fillText = function (text, x, y, ...more) {
    const m = this.measureText(text), at = this.getTransform();
    const corners = [[-m.actualBoundingBoxLeft, -m.actualBoundingBoxAscent], [m.actualBoundingBoxRight, m.actualBoundingBoxDescent]]
      .map(([dx, dy]) => at.transformPoint(new DOMPoint(x + dx, y + dy)));
    const xs = corners.map((p) => p.x), ys = corners.map((p) => p.y);
    const size = parseFloat(/([\d.]+)px/.exec(this.font)[1]) / devicePixelRatio;
    if (String(text).trim()) {
      if (!written.has(this.canvas)) written.set(this.canvas, []);
      written.get(this.canvas).push({text: String(text), size, left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys)});
    }
    return fillText.call(this, text, x, y, ...more);
  };

  const name = (e) => e.localName + (e.className ? "." + e.className : "") + " " + JSON.stringify(e.textContent.trim().slice(0, 40));
  const smallest = 11;

  const marks = () => {
    const faults = [];
    let axes = 0;
    for (const [canvas, texts] of written) {
      if (!canvas.isConnected) continue;
      texts.forEach((a, i) => {
        axes++;
        if (a.size < smallest) faults.push(`${a.text}: ${a.size} px high`);
        if (a.left < 0 || a.top < 0 || a.right > canvas.width || a.bottom > canvas.height) faults.push(`${a.text}: cut by the canvas`);
        for (const b of texts.slice(0, i)) {
          if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom) faults.push(`${b.text} lies on ${a.text}`);
        }
      });
    }
    return {faults, axes};
  };

  addEventListener("load", () => setTimeout(() => {
    for (const d of document.querySelectorAll("details")) d.open = true;
    const clipped = [], scrolling = [];
    for (const e of document.querySelectorAll("body *")) {
      if (e.clientWidth === 0 || e.scrollWidth <= e.clientWidth) continue;
      (getComputedStyle(e).overflowX === "auto" ? scrolling : clipped).push(`${name(e)}, ${e.scrollWidth} in ${e.clientWidth}`);
    }
    const root = document.documentElement, {faults, axes} = marks();
    root.dataset.look = JSON.stringify({
      width: innerWidth, clipped, scrolling, wide: root.scrollWidth > root.clientWidth, faults, written: axes, canvases: document.querySelectorAll("canvas").length,
    });
  }, 500));
})();
