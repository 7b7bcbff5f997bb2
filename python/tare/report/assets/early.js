// Before anything is painted: say that scripts run, and take up the chosen colours.
(function () {
  const root = document.documentElement;
  root.classList.add("js");
  const asked = new URLSearchParams(location.search).get("theme");
  let chosen = asked;
  try {
    chosen = asked || localStorage.getItem("tare-theme");
  } catch (error) {
    // A page opened from a file may have no storage: then the choice lasts as long as the page.
  }
  if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;
})();
