// The shop: what there is, buying one, changing a price.

import { ask, attempt, element, tell } from "/pages/page.js";

const KEPT = 12;

// Asks, and writes down what came of it with its time, and whether it came from a cache.
async function asked(method, path, body) {
  const answer = await ask(method, path, { body });
  const row = element(
    "tr",
    {},
    element("td", {}, `${method} ${path}`),
    element("td", {}, String(answer.status)),
    element("td", {}, `${answer.took.toFixed(1)} ms`),
    element("td", { class: answer.cache ?? "" }, answer.cache ?? "–"),
  );
  const rows = document.querySelector("#answers tbody");
  rows.prepend(row);
  while (rows.rows.length > KEPT) rows.lastElementChild.remove();
  return answer;
}

// A price as people write it; money has two decimals.
const money = (price) => price.toFixed(2);

async function show() {
  const answer = await asked("GET", "/store-products");
  if (!answer.ok) {
    tell(answer.json?.message ?? "The catalog cannot be had.", true);
    return;
  }
  document.getElementById("shop").replaceChildren(...answer.json.map(category));
}

function category({ name, products }) {
  const rows = products.map(product);
  const body = rows.length > 0 ? element("table", {}, ...rows) : element("p", {}, "Nothing at the moment.");
  return element("section", {}, element("h2", {}, name), body);
}

function product(product) {
  const price = element("input", {
    inputmode: "decimal",
    size: "7",
    value: money(product.price),
    "aria-label": `price of ${product.name}`,
  });
  return element(
    "tr",
    { "data-sku": product.sku },
    element("td", {}, element("b", {}, product.name), element("br"), product.description),
    element("td", { class: "price" }, money(product.price)),
    element("td", {}, button("buy one", () => buy(product))),
    element("td", {}, price, " ", button("change price", () => changePrice(product, price.value))),
  );
}

// While it is under way, it cannot be asked for once more.
function button(text, action) {
  const made = element("button", { type: "button" }, text);
  made.addEventListener("click", async () => {
    made.disabled = true;
    await attempt(action);
    made.disabled = false;
  });
  return made;
}

async function buy({ sku, name, price }) {
  const order = {
    customerName: "A visitor",
    customerEmail: "visitor@example.org",
    shippingAddress: "1 Main Street",
    paymentAmount: price,
    items: [{ sku, quantity: 1 }],
  };
  const answer = await asked("POST", "/orders", JSON.stringify(order));
  if (answer.ok) tell(`Bought: ${name}, order ${answer.json.id}.`);
  else tell(answer.json?.message ?? "That did not work.", true);
  await show();
}

async function changePrice({ sku, name }, text) {
  // Sent as it is written: a number of JavaScript is not exact to the cent.
  const price = text.trim();
  if (!/^\d+(\.\d{1,2})?$/.test(price)) {
    tell("A price is a number with at most two decimals: 31.99", true);
    return;
  }
  // A price is a row of its own, which the catalog names by the product it belongs to.
  const prices = await asked("GET", "/products-prices");
  const row = prices.ok ? prices.json.find((one) => one.sku === sku) : undefined;
  if (!row) {
    tell(`There is no price of ${name}.`, true);
    return;
  }
  const answer = await asked("PATCH", `/products-prices/${row.id}`, `{"price":${price}}`);
  if (answer.ok) tell(`${name} is ${price} now.`);
  else tell(answer.json?.message ?? "That did not work.", true);
  await show();
}

document.getElementById("reload").addEventListener("click", () => attempt(show));
attempt(show);
