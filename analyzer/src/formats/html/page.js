"use strict";
(() => {
  const report = JSON.parse(document.getElementById("report").textContent);
  const PAGE = 100;
  const find = (id) => document.getElementById(id);

  /** An element; texts become text nodes, so nothing of a plan is ever markup. */
  const make = (tag, properties = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name in element && name !== "list") element[name] = value;
      else element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  };
  const number = (count) => count.toLocaleString("en");
  const plural = (count, noun) => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;

  const items = report.findings.map((finding) => ({
    finding,
    text: JSON.stringify(finding).toLowerCase(),
  }));
  const chosen = { words: [], severities: new Set(), rule: "", standing: "" };
  let matches = items;
  let shown = 0;

  // What stands in a finding's body, made when it is opened.

  const marked = (text, other) => {
    if (text === null || other === null || text === other) return [text ?? ""];
    let from = 0;
    const most = Math.min(text.length, other.length);
    while (from < most && text[from] === other[from]) from += 1;
    let back = 0;
    while (back < most - from && text[text.length - 1 - back] === other[other.length - 1 - back]) back += 1;
    const middle = text.slice(from, text.length - back);
    if (from + back === 0 || middle === "") return [text];
    return [text.slice(0, from), make("mark", {}, middle), text.slice(text.length - back)];
  };

  const value = (text, other, kind) => {
    if (text === null) return make("td", { className: "value unset" }, "not set");
    return make("td", { className: `value ${kind}` }, make("div", {}, ...marked(text, other)));
  };

  const attributes = (finding) => {
    if (finding.attributes.length === 0) return null;
    const head = ["Attribute", "Last known", "Real", "Wanted", "Outcome"];
    const rows = finding.attributes.map((it) => make("tr", {},
      make("th", { scope: "row" }, it.path),
      value(it.before, it.after, "was"),
      value(it.after, it.before, "is"),
      it.desired === undefined ? make("td", { className: "value unset" }, "not in the plan")
        : value(it.desired, null, "wanted"),
      make("td", {}, it.outcome, it.place ? make("span", { className: "place" }, it.place) : null)));
    return make("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Attributes" },
      make("table", {},
        make("thead", {}, make("tr", {}, ...head.map((it) => make("th", { scope: "col" }, it)))),
        make("tbody", {}, ...rows)));
  };

  const command = (text) => {
    const button = make("button", { type: "button", "aria-label": `Copy: ${text}` }, "Copy");
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = "Copied";
      } catch {
        const range = document.createRange();
        range.selectNodeContents(button.previousSibling);
        getSelection().removeAllRanges();
        getSelection().addRange(range);
        button.textContent = "Selected";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
    return make("div", { className: "command" }, make("code", {}, text), button);
  };

  const diff = (text) => {
    const tone = { "+": "plus", "-": "minus", "@": "at" };
    const lines = text.replace(/\n$/, "").split("\n");
    return make("pre", { className: "diff", tabIndex: 0 },
      ...lines.map((line) => make("span",
        { className: /^(---|\+\+\+) /.test(line) ? "at" : tone[line[0]] ?? "" }, line)));
  };

  const proposal = (it) => make("li", {},
    make("p", {}, make("strong", {}, it.kind), ` (risk ${it.risk}): ${it.summary}`),
    ...it.commands.map(command),
    it.refusals.length > 0
      ? make("ul", { className: "refusals" }, ...it.refusals.map((line) => make("li", {}, line)))
      : null,
    it.diff ? diff(it.diff) : null);

  const body = (finding) => {
    const meta = make("dl", { className: "meta" });
    for (const [name, text] of finding.meta) meta.append(make("dt", {}, name), make("dd", {}, text));
    const parts = [meta, attributes(finding)];
    if (finding.proposals.length > 0) {
      parts.push(make("div", {}, make("h4", {}, "What can be done"),
        make("ul", { className: "proposals" }, ...finding.proposals.map(proposal))));
    }
    return make("div", { className: "body" }, ...parts.filter(Boolean));
  };

  const fill = (details) => {
    if (!details.querySelector(".body")) details.append(body(details.finding));
  };

  const row = ({ finding }) => {
    const tags = [finding.rule, finding.standing].filter((it) => it !== "new");
    const details = make("details", { className: `finding tone-${finding.severity}` },
      make("summary", {},
        make("span", { className: "severity" }, finding.severity),
        make("h3", {}, finding.address),
        make("span", { className: "tags" }, ...tags.map((it) => make("span", { className: "tag" }, it))),
        make("p", { className: "brief" }, finding.brief)));
    details.finding = finding;
    details.addEventListener("toggle", () => { if (details.open) fill(details); });
    return make("li", {}, details);
  };

  // The list: a page at a time, so that thousands of findings stay light.

  const list = find("findings");
  const more = (count) => {
    list.append(...matches.slice(shown, shown + count).map(row));
    shown = Math.min(matches.length, shown + count);
    find("more").hidden = shown === matches.length;
    find("more").textContent = `Show more (${number(matches.length - shown)} left)`;
  };

  const update = () => {
    matches = items.filter(({ finding, text }) =>
      (chosen.severities.size === 0 || chosen.severities.has(finding.severity))
      && (chosen.rule === "" || finding.rule === chosen.rule)
      && (chosen.standing === "" || finding.standing === chosen.standing)
      && chosen.words.every((word) => text.includes(word)));
    shown = 0;
    list.replaceChildren();
    more(PAGE);
    find("nothing").hidden = matches.length > 0;
    find("nothing").textContent = items.length === 0 ? "Nothing was found." : "Nothing matches.";
    find("count").textContent = matches.length === items.length
      ? plural(items.length, "finding")
      : `${number(matches.length)} of ${plural(items.length, "finding")}`;
    find("expand").textContent = "Expand all";
    find("expand").hidden = matches.length === 0;
  };

  const choices = (select, values) => {
    for (const it of [...new Set(values)].sort()) select.append(make("option", { value: it }, it));
    select.closest("label").hidden = select.options.length < 3;
  };

  const search = find("search");
  const look = () => {
    chosen.words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    update();
  };
  search.addEventListener("input", look);
  choices(find("rule"), report.findings.map((it) => it.rule));
  choices(find("standing"), report.findings.map((it) => it.standing));
  for (const name of ["rule", "standing"]) {
    find(name).addEventListener("change", (event) => {
      chosen[name] = event.target.value;
      update();
    });
  }
  for (const severity of ["critical", "high", "medium", "low", "info"]) {
    const count = report.findings.filter((it) => it.severity === severity).length;
    if (count === 0) continue;
    const chip = make("button", { type: "button", className: `chip tone-${severity}`, "aria-pressed": "false" },
      make("span", { className: "dot" }), severity, make("span", { className: "count" }, number(count)));
    chip.addEventListener("click", () => {
      const on = !chosen.severities.has(severity);
      chosen.severities[on ? "add" : "delete"](severity);
      chip.setAttribute("aria-pressed", String(on));
      update();
    });
    find("severities").append(chip);
  }

  find("more").addEventListener("click", () => {
    const first = shown;
    more(PAGE);
    list.children[first]?.querySelector("summary").focus();
  });
  new IntersectionObserver((seen) => {
    if (seen.some((it) => it.isIntersecting) && shown < matches.length) more(PAGE);
  }, { rootMargin: "600px" }).observe(find("more"));

  const open = (on) => {
    for (const details of list.querySelectorAll("details.finding")) {
      if (on) fill(details);
      details.open = on;
    }
  };
  find("expand").addEventListener("click", (event) => {
    const on = event.target.textContent === "Expand all";
    open(on);
    event.target.textContent = on ? "Collapse all" : "Expand all";
  });

  // On paper stands all that matches, opened.
  addEventListener("beforeprint", () => {
    more(matches.length);
    open(true);
    for (const details of document.querySelectorAll("details.listed")) details.open = true;
  });

  // Keys.

  const step = (by) => {
    const all = [...list.querySelectorAll("details.finding > summary")];
    const at = all.indexOf(document.activeElement);
    if (by > 0 && at === all.length - 1) more(PAGE);
    const next = at < 0 ? all[0] : list.querySelectorAll("details.finding > summary")[at + by];
    next?.focus();
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && document.activeElement === search) {
      search.value = "";
      look();
      search.blur();
      return;
    }
    if (event.target.closest?.("input, select, textarea")) return;
    const onRow = document.activeElement?.matches?.("details.finding > summary");
    if (event.key === "/") search.focus();
    else if (event.key === "j" || (event.key === "ArrowDown" && onRow)) step(1);
    else if (event.key === "k" || (event.key === "ArrowUp" && onRow)) step(-1);
    else return;
    event.preventDefault();
  });

  // Light and dark: the reader's preference, unless the button says otherwise.

  const themes = ["auto", "light", "dark"];
  const wear = (theme) => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    find("theme").textContent = `Theme: ${theme}`;
    find("theme").value = theme;
  };
  let theme = "auto";
  try { theme = localStorage.getItem("driftgate-theme") ?? "auto"; } catch { /* No storage. */ }
  wear(themes.includes(theme) ? theme : "auto");
  find("theme").addEventListener("click", (event) => {
    const next = themes[(themes.indexOf(event.target.value) + 1) % themes.length];
    wear(next);
    try { localStorage.setItem("driftgate-theme", next); } catch { /* No storage. */ }
  });

  // Lists beside the findings.

  const LISTED = 500;
  for (const { title, lines, total, open: opened } of report.lists) {
    const entries = lines.slice(0, LISTED).map((line) => make("li", {}, line));
    if (total > entries.length) entries.push(make("li", {}, `and ${number(total - entries.length)} more`));
    find("lists").append(make("details", { className: "listed", open: opened },
      make("summary", {}, `${title} (${number(total)})`), make("ul", {}, ...entries)));
  }
  find("beside").hidden = report.lists.length === 0;

  if (location.hash.length > 1) search.value = decodeURIComponent(location.hash.slice(1));
  look();
  document.documentElement.dataset.ready = "true";
})();
