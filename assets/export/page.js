(() => {
const bar = document.querySelector(".filter"), entries = [...document.querySelectorAll("main article")];
const box = document.createElement("input"), count = document.createElement("output");
box.type = "search";
box.placeholder = "find words";
box.setAttribute("aria-label", "find words");
bar.append(box, count);
const texts = new Map(), opened = new Set();
const text = (node) => texts.get(node) ?? texts.set(node, node.textContent.toLowerCase()).get(node);
const find = () => {
  const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (node) => words.every((word) => text(node).includes(word));
  for (const fold of opened) fold.open = false;
  opened.clear();
  const unfold = (fold) => { if (!fold.open) { fold.open = true; opened.add(fold); } };
  let shown = 0;
  for (const entry of entries) {
    entry.hidden = !has(entry);
    if (entry.hidden || !words.length) continue;
    shown += 1;
    for (let fold = entry.closest("details"); fold; fold = fold.parentElement.closest("details")) unfold(fold);
    for (const fold of entry.querySelectorAll("details")) if (words.some((word) => text(fold).includes(word))) unfold(fold);
  }
  count.textContent = words.length ? `${shown} of ${entries.length} entries` : "";
};
let waiting;
box.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(find, 200); });
const go = () => {
  let key = location.hash.slice(1);
  try { key = decodeURIComponent(key); } catch { return; }
  const entry = key && document.getElementById(key);
  if (!entry) return;
  entry.hidden = false;
  for (let fold = entry.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  entry.scrollIntoView();
};
addEventListener("hashchange", go);
go();
})();
