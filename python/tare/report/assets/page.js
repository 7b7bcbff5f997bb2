// Draws the pictures when they come into sight, and again when width or colours change.
// The numbers are read from the CSV links: the page holds them once.
(function () {
  "use strict";
  const root = document.documentElement;
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const pictures = read("pictures");
  const themes = read("themes");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const drawn = new Map();
  const AXIS_PX = 64;

  const mode = () => root.dataset.theme || (dark.matches ? "dark" : "light");

  // Pictures above each other cannot ask for the width of their container: they are told it.
  function tellWidth(spec, width) {
    if (Array.isArray(spec)) return spec.map((part) => tellWidth(part, width));
    if (spec === null || typeof spec !== "object") return spec;
    const out = {};
    for (const [key, value] of Object.entries(spec)) {
      out[key] = key === "width" && value === "container" ? width : tellWidth(value, width);
    }
    return out;
  }

  // Names of colours beside each other are too wide for a phone.
  const narrow = (config) => ({ ...config, legend: { ...config.legend, columns: 1 } });

  // A finger that scrolls the page must not be caught by a picture.
  function withoutZoom(spec) {
    const touch = matchMedia("(pointer: coarse)").matches;
    if (!touch || !spec.params) return spec;
    return { ...spec, params: spec.params.filter((param) => !param.bind) };
  }

  // Vega's own reader of CSV compiles code, which the page's security policy forbids.
  function rows(csv, parse) {
    const field = /(?:"((?:[^"]|"")*)"|([^,\n"]*))(,|\n|$)/g;
    const lines = [[]];
    while (field.lastIndex < csv.length) {
      const [, quoted, plain, end] = field.exec(csv);
      lines[lines.length - 1].push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
      if (end === "\n") lines.push([]);
    }
    const [names, ...rest] = lines.filter((line) => line.length === lines[0].length);
    const value = (name, text) => (text === "" ? null : parse[name] === "number" ? +text : text);
    return rest.map((line) =>
      Object.fromEntries(names.map((name, at) => [name, value(name, line[at])]))
    );
  }

  function prepared(place, width) {
    const { spec, parse } = pictures[place.dataset.picture];
    const link = document.getElementById(place.dataset.csv).getAttribute("href");
    const values = rows(decodeURIComponent(link.slice(link.indexOf(",") + 1)), parse);
    const whole = { ...withoutZoom(spec), data: { name: "shown", values } };
    return tellWidth(whole, Math.max(160, width - AXIS_PX));
  }

  function draw(place) {
    const width = place.clientWidth;
    const colours = mode();
    const before = drawn.get(place);
    if (before && before.width === width && before.colours === colours) return;
    if (before) before.result.then((result) => result && result.finalize());
    const options = {
      actions: false,
      ast: true,
      config: width < 480 ? narrow(themes[colours]) : themes[colours],
      mode: "vega-lite",
      renderer: "canvas",
      tooltip: { theme: colours },
    };
    const result = vegaEmbed(place, prepared(place, width), options).then(
      (embedded) => {
        place.classList.add("drawn");
        return embedded;
      },
      (error) => {
        // The still picture stays in its place.
        place.closest("figure").classList.add("still");
        console.error(error);
        return null;
      }
    );
    drawn.set(place, { width, colours, result });
  }

  const redraw = () => [...drawn.keys()].forEach(draw);
  const places = [...document.querySelectorAll(".plot")];
  const watcher = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue;
        watcher.unobserve(entry.target);
        draw(entry.target);
      }
    },
    { rootMargin: "800px" }
  );
  places.forEach((place) => watcher.observe(place));

  let waiting = 0;
  const sizes = new ResizeObserver(() => {
    clearTimeout(waiting);
    waiting = setTimeout(redraw, 100);
  });
  places.forEach((place) => sizes.observe(place));
  dark.addEventListener("change", redraw);

  const toggle = document.getElementById("theme");
  const name = () => {
    toggle.textContent = mode() === "dark" ? "Light" : "Dark";
    toggle.setAttribute("aria-label", `Show in ${toggle.textContent.toLowerCase()} colours`);
  };
  toggle.addEventListener("click", () => {
    root.dataset.theme = mode() === "dark" ? "light" : "dark";
    try {
      localStorage.setItem("tare-theme", root.dataset.theme);
    } catch (error) {
      // No storage: the choice lasts as long as the page.
    }
    name();
    redraw();
  });
  dark.addEventListener("change", name);
  name();
})();
