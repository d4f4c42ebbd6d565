// What both pages need.

// An element with children; texts are never read as HTML.
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

// Sends a request. Gives the answer, its body and how many milliseconds it took; throws only if there is no answer.
export async function ask(method, path, { body, headers = {} } = {}) {
  if (body !== undefined) headers = { ...headers, "content-type": "application/json" };
  const began = performance.now();
  const answer = await fetch(path, { method, body, headers, cache: "no-store" });
  const text = await answer.text();
  const took = performance.now() - began;
  let json = null;
  try {
    json = JSON.parse(text);
  } catch {
    // Not every answer has a body.
  }
  return { ok: answer.ok, status: answer.status, json, took, cache: answer.headers.get("x-cache") };
}

// Shows how something went: an answer that was asked for, or what is wrong.
export function tell(text, wrong = false) {
  const outcome = document.getElementById("outcome");
  outcome.textContent = text;
  outcome.className = wrong ? "wrong" : "";
}

const UNREACHABLE = "The service does not answer.";

// Runs what speaks to the service, and tells if that cannot be reached, for as long as it cannot.
export async function attempt(what) {
  try {
    await what();
    if (document.getElementById("outcome").textContent === UNREACHABLE) tell("");
  } catch (error) {
    console.error(error);
    tell(UNREACHABLE, true);
  }
}
