element.addEventListener("click", (event) => {
  const row = event.target.closest("[data-row]");
  if (row) trigger("select", { row: Number(row.dataset.row) });
});
