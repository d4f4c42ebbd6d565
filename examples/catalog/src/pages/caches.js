// What the caches do, once a second.

import { ask, attempt, element, tell } from "/pages/page.js";

const PAUSE = 1000;

// The rows stay: a button that is being pressed must not be exchanged for another one.
const rows = new Map();

function rowOf(name) {
  let row = rows.get(name);
  if (!row) {
    const cells = Array.from({ length: 6 }, () => element("td"));
    const clear = element("button", { type: "button", "aria-label": `clear ${name}` }, "clear");
    clear.addEventListener("click", () => attempt(() => clearCache(name)));
    const line = element("tr", { "data-cache": name }, element("th", {}, name), ...cells, element("td", {}, clear));
    document.querySelector("#caches tbody").append(line);
    row = cells;
    rows.set(name, row);
  }
  return row;
}

async function update() {
  const [stats, health] = await Promise.all([ask("GET", "/cache-stats"), ask("GET", "/healthz")]);
  if (!stats.ok) return;
  for (const [name, counts] of Object.entries(stats.json)) {
    const calls = counts.hits + counts.misses + counts.coalesced + counts.bypasses;
    const texts = [
      calls,
      calls > 0 ? `${((100 * counts.hits) / calls).toFixed(1)} %` : "–",
      counts.loads,
      counts.entries,
      counts.invalidations,
      health.json?.caches?.[name] ?? "–",
    ];
    rowOf(name).forEach((cell, index) => {
      cell.textContent = String(texts[index]);
    });
  }
}

async function clearCache(name) {
  const token = document.getElementById("token").value;
  const headers = token ? { authorization: `Bearer ${token}` } : {};
  const answer = await ask("POST", `/cache/${encodeURIComponent(name)}/clear`, { headers });
  if (answer.ok) tell(`${name} is empty.`);
  else tell(answer.json?.message ?? "That did not work.", true);
  await update();
}

async function goOn() {
  await attempt(update);
  setTimeout(goOn, PAUSE);
}
goOn();
