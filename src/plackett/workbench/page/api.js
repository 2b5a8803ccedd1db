// Requests to the server. Errors of the server are sentences, which are shown as they are.

async function answer(response) {
  let body = null;
  try { body = await response.json(); } catch { /* not JSON: the status says it */ }
  if (!response.ok) throw new Error(body?.error ?? `the server answered ${response.status}`);
  return body;
}

export async function get(path, parameters = {}, signal = undefined) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined || value === null || value === "") continue;
    for (const one of Array.isArray(value) ? value : [value]) query.append(name, one);
  }
  const text = query.toString();
  return answer(await fetch(text ? `${path}?${text}` : path, { signal, credentials: "same-origin" }));
}

export async function post(path, body) {
  return answer(await fetch(path, { method: "POST", credentials: "same-origin", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }));
}
