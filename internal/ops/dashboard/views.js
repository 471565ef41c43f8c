  // ---- Views: the overview, and one for each of the other links. The fragment of the address says which is shown ----

  const views = [...document.querySelectorAll("[data-view]")], links = [...document.querySelectorAll("nav a")];
  let view = views[0];

  // addressed returns the part of the page that the address names: a view, or a section of one. What it does not know is the overview.
  const addressed = () => {
    const named = document.getElementById(location.hash.slice(1)); // our names need no decoding
    return named?.closest("[data-view]") ? named : views[0];
  };

  // turn shows the view of the address. Its heading gets the focus if the reader went there, so that a screen reader says where that is.
  const turn = (went) => {
    const at = addressed();
    view = at.closest("[data-view]");
    for (const one of views) one.hidden = one !== view;
    for (const link of links) {
      const current = link.hash === "#" + at.id || (link.hash === "#" + view.id && !links.some((l) => l.hash === "#" + at.id));
      if (current) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
      if (current) link.closest("ul").scrollLeft = link.offsetLeft - link.closest("ul").clientWidth / 2;
    }
    if (latest) list();
    if (!went) return;
    const heading = at.querySelector("h2, h3");
    heading?.focus({preventScroll: true});
    if (at === view) scrollTo(0, 0);
    else at.scrollIntoView();
  };

  addEventListener("hashchange", () => turn(true));
  document.querySelector(".skip").addEventListener("click", (e) => { // the address stays: it says which view is shown
    e.preventDefault();
    view.querySelector("h2").focus();
  });

  // ---- What needs a look, beside the link to the view that has it ----

  const lastly = (of) => Object.values(of ?? {}).reduce((n, one) => n + one.lately, 0);
  const alarms = {
    overview: (s) => s.problems?.length > 0 && many(s.problems.length, "problem"),
    origins: originAlarm,
    tiers: (s) => (s.cache?.disk?.trouble || s.cache?.disk?.directories?.some((d) => d.trouble)) && "disk off",
    window: (s) => (s.filters ?? []).some((f) => f.measured?.false_negatives > 0) && "sightings lost",
    limits: (s) => lastly(s.limits?.refused) + lastly(s.limits?.let_go) > 0 && plain(lastly(s.limits?.refused) + lastly(s.limits?.let_go)) + " lately",
    certificates: (s) => ending(s).length > 0 && plain(ending(s).length) + " to renew",
  };
  const showAlarms = (s) => {
    for (const link of links) {
      const says = alarms[link.hash.slice(1)]?.(s) || "";
      let mark = link.querySelector(".alarm");
      if (!mark && says === "") continue;
      if (!mark) {
        mark = link.appendChild(document.createElement("span"));
        mark.className = "alarm";
      }
      setText(mark, says && "\u26a0\ufe0e " + says);
    }
  };
