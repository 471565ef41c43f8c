  // ---- The last hour, as the proxy remembers it: the curves are full when the page is opened ----

  let past = null; // the document of /status/history
  const hour = 3600, recallEvery = 10000;
  const classNames = ["2xx", "3xx", "4xx", "5xx", "none"];
  const classColours = ["--s0", "--soft", "--s1", "--bad", "--ink"];

  // The points of the curves that end before the page has figures of its own.
  const pastPoints = (from, until) => {
    const out = {times: [], rates: [], ratios: [], byteRatios: []};
    (past?.end ?? []).forEach((end, i) => {
      if (end <= from || end >= until) return;
      out.times.push(end);
      out.rates.push(Object.values(past.results).reduce((n, column) => n + column[i], 0) / past.seconds[i]);
      out.ratios.push(past.hit_ratio[i]);
      out.byteRatios.push(past.byte_hit_ratio[i]);
    });
    return out;
  };

  const classPoints = () => [past?.end ?? [], ...classNames.map((name) => (past?.status_classes[name] ?? []).map((n, i) => n / past.seconds[i]))];

  const showPast = () => {
    const minutes = new Map(); // counts by class of each minute
    (past?.end ?? []).forEach((end, i) => {
      const minute = Math.floor((end - past.seconds[i] / 2) / 60);
      if (!minutes.has(minute)) minutes.set(minute, classNames.map(() => 0));
      classNames.forEach((name, n) => { minutes.get(minute)[n] += past.status_classes[name][i]; });
    });
    fill("past", [...minutes].reverse().map(([minute, counts]) => [clock(minute * 60), ...counts.map(plain)]), 1);
  };
  byId("past-details").addEventListener("toggle", showPast);

  const recall = async () => {
    if (paused || (document.hidden && past) || root.dataset.link !== "live") return;
    try {
      past = await (await ask("/status/history", {signal: AbortSignal.timeout(silence)})).json();
      setText(byId("past-said"), "");
      if (paused) return;
      showCharts();
      showSparks();
      if (byId("past-details").open) showPast();
    } catch (fault) { // what is refused, or cannot be reached, the stream tells
      if (!(fault instanceof Refused) && fault.name !== "TypeError" && fault.name !== "TimeoutError") setText(byId("past-said"), `The listener says: ${fault.message}.`);
    }
  };
  setInterval(recall, recallEvery);

