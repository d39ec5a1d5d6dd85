// SPDX-License-Identifier: MIT
// Debian's package of furo neither follows the color scheme of the system nor runs its theme button,
// because its script is not bundled. This does both, unless furo's own script runs.
window.addEventListener("DOMContentLoaded", () => {
  const systemIsDark = window.matchMedia("(prefers-color-scheme: dark)");

  function apply() {
    const stored = localStorage.getItem("theme");
    const followsSystem = stored !== "light" && stored !== "dark";
    document.body.dataset.theme = followsSystem ? (systemIsDark.matches ? "dark" : "light") : stored;
  }

  function toggle() {
    localStorage.setItem("theme", document.body.dataset.theme === "dark" ? "light" : "dark");
    apply();
  }

  if (!document.documentElement.classList.contains("no-js")) return;  // furo's script has run
  document.documentElement.classList.remove("no-js");
  apply();
  systemIsDark.addEventListener("change", apply);
  for (const button of document.getElementsByClassName("theme-toggle")) {
    button.addEventListener("click", toggle);
  }
});
