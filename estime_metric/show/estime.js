// Points from a unit of the summary to its evidence in the source. Listens on the document, so that it serves every
// explanation on the page, also those that come later; loading it twice changes nothing.
(() => {
  "use strict";
  if (window.estimeExplains) return;
  window.estimeExplains = true;

  const chosen = new WeakMap(); // explanation -> the unit that was focused or clicked last
  // A word of the list below a summary stands for its unit in the text.
  const unitAt = (target) => {
    if (!(target instanceof Element)) return null;
    const listed = target.closest("[data-unit]");
    if (!listed) return target.closest(".estime-unit");
    return listed.closest(".estime-summary").querySelectorAll(".estime-unit")[Number(listed.dataset.unit)];
  };
  const rootOf = (target) => (target instanceof Element ? target.closest(".estime:not(.estime-key)") : null);

  function mark(root, span, name) {
    if (!span) return [];
    const [start, end] = span.split("-").map(Number);
    const found = [...root.querySelectorAll(".estime-source [data-start]")].filter(
      (piece) => Number(piece.dataset.start) < end && Number(piece.dataset.end) > start,
    );
    found.forEach((piece) => piece.classList.add(name));
    if (found.length) {
      found[0].classList.add("estime-first");
      found[found.length - 1].classList.add("estime-last");
    }
    return found;
  }

  function bringIntoView(pane, span) {
    const outer = pane.getBoundingClientRect();
    const inner = span.getBoundingClientRect();
    if (inner.top >= outer.top + 4 && inner.bottom <= outer.bottom - 4) return;
    const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    const top = pane.scrollTop + inner.top - outer.top - pane.clientHeight / 3;
    pane.scrollTo({ top, behavior: calm ? "auto" : "smooth" });
  }

  function show(root, unit) {
    const marks = ["estime-active", "estime-best", "estime-same", "estime-first", "estime-last"];
    const panes = root.querySelector(".estime-panes");
    panes.querySelectorAll("." + marks.join(",.")).forEach((element) => element.classList.remove(...marks));
    const note = root.querySelector(".estime-note");
    note.textContent = unit ? unit.getAttribute("aria-label") : note.dataset.hint;
    note.classList.toggle("estime-showing", Boolean(unit));
    if (!unit) return;
    unit.classList.add("estime-active");
    bringIntoView(unit.closest(".estime-text"), unit);
    const same = mark(root, unit.dataset.same, "estime-same");
    const best = mark(root, unit.dataset.best, "estime-best");
    const first = best[0] || same[0];
    if (first) bringIntoView(root.querySelector(".estime-source .estime-text"), first);
  }

  function choose(root, unit) {
    chosen.set(root, unit);
    root.classList.toggle("estime-docked", Boolean(unit));
    show(root, unit);
    // On a narrow page, the style docks the source to the lower edge: scroll until the unit is above it.
    const source = root.querySelector(".estime-source");
    const inset = parseFloat(getComputedStyle(source).insetBlockEnd);
    if (!unit || Number.isNaN(inset)) return;
    const docked = window.innerHeight - inset - source.offsetHeight;
    const covered = unit.getBoundingClientRect().bottom + 12 - docked;
    if (covered > 0) window.scrollBy({ top: covered, behavior: "instant" });
  }

  document.addEventListener("mouseover", (event) => {
    const unit = unitAt(event.target);
    if (unit) show(rootOf(unit), unit);
  });
  document.addEventListener("mouseout", (event) => {
    const unit = unitAt(event.target);
    if (unit && unitAt(event.relatedTarget) !== unit) show(rootOf(unit), chosen.get(rootOf(unit)) || null);
  });
  // Focus by the mouse waits for the click: if the page moved while the button is down, the click would miss the unit.
  let pressed = false;
  document.addEventListener("mousedown", () => (pressed = true), true);
  document.addEventListener("mouseup", () => (pressed = false), true);
  document.addEventListener("focusin", (event) => {
    const unit = unitAt(event.target);
    if (unit && !pressed) choose(rootOf(unit), unit);
  });
  document.addEventListener("click", (event) => {
    const root = rootOf(event.target);
    if (!root) return;
    const unit = unitAt(event.target);
    if (unit) choose(root, unit);
    else if (!event.target.closest(".estime-source, .estime-surest")) choose(root, null);
  });
  document.addEventListener("keydown", (event) => {
    const root = rootOf(event.target);
    if (!root) return;
    if (event.key === "Escape") return choose(root, null);
    const unit = unitAt(event.target);
    if (!unit) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      return choose(root, unit);
    }
    const onward = getComputedStyle(unit).direction === "rtl" ? "ArrowLeft" : "ArrowRight";
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    const units = [...root.querySelectorAll(".estime-unit")];
    const next = units[units.indexOf(unit) + (event.key === onward ? 1 : -1)];
    if (next) {
      event.preventDefault();
      next.focus();
    }
  });
})();
