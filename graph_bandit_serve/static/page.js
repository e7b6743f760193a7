// The page asks the same operations as programs do (/api/v1), and renews itself when a campaign has changed.
// Elements say what they do: data-post (an operation that changes), data-view (one whose result is shown),
// data-load (one whose result is part of the page), data-tell (a result), data-drop (a table that is sent).
"use strict";

const API = "/api/v1";
const ENDED = ["done", "refused", "failed", "stopped"];
const main = document.getElementById("content");
const dialog = document.getElementById("dialog");
const bar = document.getElementById("work");
const said = document.getElementById("said");
const article = () => main.querySelector("article[data-campaign]");
const campaign = () => article()?.dataset.campaign ?? "";

// Words of the page.

// What concerns the command is of no use here.
const plain = (text) => text.split(/(?<=[\w)`'"]{4}[.;]) /).filter((each) => !/--|shell/.test(each)).join(" ") || text;

function say(text, isProblem = false) {
  said.textContent = plain(text);
  said.className = isProblem ? "problem" : "";
  said.hidden = !text;
  said.setAttribute("role", isProblem ? "alert" : "status");
  clearTimeout(say.timer);
  if (!isProblem) say.timer = setTimeout(() => (said.hidden = true), 8000);
}
said.onclick = () => (said.hidden = true);

function element(tag, text, attributes = {}) {
  const made = document.createElement(tag);
  made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

// Ask in a dialog, with a button for each answer; null: the person would rather not.
function ask(title, text, answers, label = "") {
  return new Promise((resolve) => {
    const form = element("form", "", { method: "dialog" });
    form.append(element("h2", title), element("p", text));
    const field = label ? element("textarea", "", { rows: 3, maxlength: 2000, "aria-label": label }) : null;
    if (field) form.append(element("p", label), field);
    const row = element("p", "", { class: "acts" });
    answers.forEach((answer, k) => row.append(element("button", answer, { value: answer, class: k ? "quiet" : "" })));
    row.append(element("button", "Cancel", { value: "", class: "quiet", formnovalidate: "" }));
    form.append(row);
    dialog.replaceChildren(form);
    dialog.onclose = () => {
      const answer = dialog.returnValue;
      dialog.returnValue = "";
      dialog.replaceChildren();
      resolve(answer ? { answer, text: field ? field.value.trim() : "" } : null);
    };
    dialog.returnValue = "";
    dialog.showModal();
    field?.focus();
  });
}

function show(html) {
  const close = element("button", "Close", { class: "quiet", autofocus: "" });
  close.onclick = () => dialog.close();
  const content = element("div", "");
  content.innerHTML = html; // a template of the server, which escapes
  dialog.onclose = () => dialog.replaceChildren();
  dialog.replaceChildren(close, content);
  if (!dialog.open) dialog.showModal();
}

// Operations.

async function read(answer) {
  const text = await answer.text();
  try {
    return JSON.parse(text);
  } catch {
    return { detail: text };
  }
}

// Do an operation; return its job when it is done. What is refused is an error with the words of the server.
async function run(name, asked, { ofFolder = false, wait = 2 } = {}) {
  const place = ofFolder ? "" : `/campaigns/${campaign()}`;
  const headers = { "content-type": "application/json" };
  const request = { method: "POST", headers, body: JSON.stringify(asked) };
  const answer = await fetch(`${API}${place}/${name}?wait=${wait}`, request);
  const content = await read(answer);
  if (answer.status >= 400) throw new Error(content.detail ?? "It was not done.");
  return finish(content);
}

async function finish(job) {
  while (!ENDED.includes(job.status)) {
    work(job);
    job = await read(await fetch(`${API}/jobs/${job.id}?wait=5`));
  }
  work(null);
  if (job.status === "stopped") throw new Error("It was stopped. What was saved before is unchanged.");
  if (job.status !== "done") throw new Error(job.problem);
  return job;
}

async function view(job) {
  const answer = await fetch(`/jobs/${job.id}/view`);
  const html = await answer.text();
  if (!answer.ok) throw new Error("The result is too old. Please ask again.");
  return html;
}

// Say what runs: this person's job, and those of others.
let own = null;
function work(job) {
  own = job;
  queue();
}

const DOES = {
  ask: "Learning from the results and choosing the next batch", explain: "Explaining", preview: "Reading the table",
  look: "Reading the table", rows: "Reading the predictions", file: "Writing the file", new: "Creating the campaign",
  tell: "Saving results", annotate: "Saving", stopping_advice: "Computing",
};

async function queue() {
  const answer = await fetch(`${API}/jobs`);
  if (!answer.ok) return;
  const jobs = (await answer.json()).filter((job) => job.seconds > 1 || job.status === "waiting");
  bar.replaceChildren(...jobs.map(line));
  bar.hidden = !jobs.length;
}

function line(job) {
  const mine = job.is_mine ? "" : " (a colleague)";
  const state = job.status === "waiting" ? "waits for its turn" : `${job.seconds.toFixed(0)} s`;
  const row = element("p", `${DOES[job.operation] ?? job.operation}${mine}: ${state}. ${job.progress.at(-1) ?? ""} `);
  if (job.is_mine) {
    const stop = element("button", "Stop", { type: "button", class: "quiet" });
    stop.onclick = () => fetch(`${API}/jobs/${job.id}/stop`, { method: "POST" }).then(queue);
    row.append(stop);
  }
  return row;
}

// Show the page anew where it stands; what is typed, the focus and the place stay.
let renewing = null;
function renew() {
  renewing ??= (async () => {
    const focus = document.activeElement?.name;
    const about = (each) => `${each.closest("[id]")?.id} ${each.textContent}`;
    const open = [...main.querySelectorAll("details[open] > summary")].map(about);
    const loaded = [...main.querySelectorAll("[data-load]")];
    const parsed = new DOMParser().parseFromString(await (await fetch(location.href)).text(), "text/html");
    main.replaceChildren(...parsed.getElementById("content").childNodes);
    for (const summary of main.querySelectorAll("details > summary"))
      if (open.includes(about(summary))) summary.parentElement.open = true;
    const places = main.querySelectorAll("[data-load]");
    loaded.forEach((old, k) => places[k]?.replaceWith(old)); // a preview, or a page of candidates
    const drop = loaded.length ? null : main.querySelector("#drop");
    if (drop && renew.drop) drop.replaceWith(renew.drop);
    begin();
    for (const place of main.querySelectorAll("[data-load=rows]")) tried(() => load(place));
    if (focus) main.querySelector(`[name="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
  })().finally(() => (renewing = null));
  return renewing;
}

// What is typed stays until it is saved, also on another tab of the page and after it is loaded again.
const draft = (field) => `${location.pathname} ${field.form?.id ?? ""} ${field.name}`;
const keeps = (field) => field.name && field.type !== "file" && !field.closest("dialog, [data-rows]");
function fill() {
  for (const field of main.querySelectorAll("input[name], textarea[name], select[name]")) {
    const kept = keeps(field) ? sessionStorage.getItem(draft(field)) : null;
    if (kept !== null && field.type === "checkbox") field.checked = kept === "true";
    else if (kept !== null) field.value = kept;
    field.classList.toggle("unsaved", isDirty(field));
  }
}

const keep = (field) =>
  sessionStorage.setItem(draft(field), field.type === "checkbox" ? field.checked : field.value);

function forget(fields) {
  for (const field of fields) sessionStorage.removeItem(draft(field));
}

// Results.

const isDirty = (field) => "tell" in (field?.dataset ?? {}) && comma(field.value) !== field.defaultValue;
const comma = (text) => text.trim().replace(/^(\D*\d+),(\d{1,2}|\d{4,})$/, "$1.$2"); // of three digits: a thousand?

async function tell(fields) {
  if (tell.asks) return; // the dialog takes the focus from the field
  const changed = fields.filter(isDirty);
  const known = changed.filter((field) => field.dataset.known);
  let instead = false;
  const filled = known.filter((field) => field.value.trim());
  if (filled.length) {
    const list = filled.slice(0, 5).map((field) => `${field.dataset.id} has ${field.dataset.known}`).join(", ");
    const more = filled.length > 5 ? ` and ${filled.length - 5} more` : "";
    tell.asks = true;
    const choice = await ask("There is a result already", `${list}${more}.`, ["Replace", "Keep both (replicates)"]);
    tell.asks = false;
    if (!choice) {
      for (const field of known) field.value = field.defaultValue;
      return forget(known);
    }
    instead = choice.answer === "Replace";
  }
  const entry = (field) => ({ id: field.dataset.id, goal: field.dataset.tell, value: comma(field.value) });
  const replaced = known.filter((field) => instead || !field.value.trim());
  const added = changed.filter((field) => !replaced.includes(field) && field.value.trim());
  if (replaced.length) await told(replaced.map(entry), true);
  if (added.length) await told(added.map(entry), false, filled.length > 0);
  forget(changed);
  await renew();
}

// Save results; a value that a colleague has added meanwhile is no replicate unless the person says so.
async function told(results, instead, isChosen = instead) {
  const { result } = await run("tell", { results, instead, by: name() });
  const { replicates, gone, twice } = result.answer;
  const added = result.answer.new.length;
  const parts = [added ? `${added === 1 ? "Result" : `${added} results`} saved.` : "Saved."];
  if (replicates.length && !isChosen) {
    const text = `Somebody has added another result of ${replicates.join(", ")}.`;
    const choice = await ask("There is a result already", text, ["Keep both (replicates)", "Replace"]);
    const both = results.filter((each) => replicates.includes(each.id));
    if (choice?.answer === "Replace") return told(both, true);
  }
  if (replicates.length) parts.push(`Replicates, which are averaged: ${replicates.join(", ")}.`);
  if (gone.length) parts.push(`Corrected or removed: ${gone.join(", ")}.`);
  if (twice) parts.push(`${twice} known already.`);
  for (const each of main.querySelectorAll(".unsaved")) each.classList.remove("unsaved");
  say(parts.join(" "));
}

async function suggest(changes = {}, next_batch = false, replaces = false) {
  const before = Number(article().dataset.rounds);
  say("The next batch is being chosen. You can go on working here.");
  const { result } = await run("ask", { changes, next_batch });
  const { suggested, notes, advice, round } = result.answer;
  sessionStorage.setItem(`notes ${campaign()}`, notes.map(plain).join("\n"));
  await renew();
  say(`${suggested.length || "No"} compounds are suggested. ${advice}`);
  if (round !== before || next_batch || replaces || !suggested.length) return;
  const text = "No result has come in since, so these are the same suggestions as before.";
  if (await ask("This batch still waits", text, ["Suggest another batch"])) await suggest(changes, true);
}

async function annotate(asked, field, title, label) {
  if (field) {
    const given = await ask(title, "", ["Save"], label);
    if (!given || (field === "comment" && !given.text)) return;
    asked = { ...asked, [field]: given.text || true };
  }
  await run("annotate", { ...asked, by: name() });
  const waits = [...main.querySelectorAll(".cards > li")].some((card) => card.id === `card-${asked.id}`);
  await renew();
  if (field === "veto" && waits) await suggest({}, false, true);
  else say("Saved.");
}

// Forms.

function value(field) {
  const text = field.value.trim();
  if (field.dataset.as === "flag") return field.checked;
  if (field.dataset.as === "number") return text ? Number(text) : null;
  if (field.dataset.as === "lines") return text.split("\n").map((each) => each.trim()).filter(Boolean);
  return text || null;
}

const settings = (form) =>
  Object.fromEntries([...form.querySelectorAll("[name][data-as]")].map((field) => [field.name, value(field)]));

async function create(form) {
  const isGiven = ([, each]) => each && each.length !== 0;
  const asked = Object.entries(settings(form)).filter(isGiven);
  const goals = { maximize: [], minimize: [], target: [] };
  const look = form.look ?? {};
  for (const k of [0, 1, 2]) {
    const [goal, aim, range] = ["goal", "aim", "range"].map((part) => form.elements[`${part}-${k}`].value.trim());
    if (goal) goals[aim].push(aim === "target" ? `${goal}=${range}` : goal);
  }
  if (!look.pool) throw new Error("Choose a table of compounds first.");
  const { smiles, id, sheet, slot } = look;
  const named = Object.entries({ ...goals, smiles, id, sheet, slot });
  const given = Object.fromEntries([...asked, ...named.filter(([, each]) => each?.length)]);
  const title = form.elements.title.value;
  const begun = { name: title, pool: look.pool, settings: given, suggest: false };
  const { result } = await run("new", begun, { ofFolder: true });
  forget(form.elements);
  const listed = await (await fetch(`${API}/campaigns`)).json();
  const found = listed.campaigns.find((each) => each.version === result.version);
  const results = form.elements.results.value;
  const moved = result.campaign.replace(/[^/]*$/, "pool") + (look.kind ?? "");
  const table = results === "pool" ? `&table=${encodeURIComponent(look.kind ? moved : look.pool)}` : "";
  location.href = `/campaigns/${found.id}?tab=${results ? "results" : "batch"}${table}`;
}

async function send(file) {
  const headers = { "content-type": "application/octet-stream" };
  const address = `${API}/uploads?name=${encodeURIComponent(file.name)}`;
  const answer = await fetch(address, { method: "POST", headers, body: file });
  const content = await read(answer);
  if (!answer.ok) throw new Error(content.detail);
  return content.table;
}

// Show a table that was sent or chosen; `asked` says which columns and sheet.
async function look(asked) {
  const form = main.querySelector("form[data-new]");
  const job = await run("look", asked, { ofFolder: true });
  form.look = { ...form.look, ...asked };
  main.querySelector("#drop").innerHTML = await view(job);
}

async function preview(asked) {
  const place = main.querySelector("#drop");
  place.innerHTML = await view(await run("preview", asked));
  place.asked = asked;
  renew.drop = place;
}

async function accept(form) {
  const results = { replicate: [], replace: [] };
  for (const row of form.querySelectorAll("tr[data-row]")) {
    if (!row.querySelector("input[type=checkbox]").checked) continue;
    const { id, smiles, values } = JSON.parse(row.dataset.row);
    const typed = row.querySelector("[data-cell=id]")?.value.trim() ?? id;
    for (const cell of row.querySelectorAll("[data-cell=value]")) values[cell.dataset.goal] = cell.value;
    const goals = Object.keys(values).filter((goal) => `${values[goal]}`.trim());
    const several = form.querySelectorAll("thead th").length > 5;
    const both = row.querySelector("[data-both]")?.value ?? "replicate";
    for (const goal of goals)
      results[both].push({ id: typed, smiles, goal: several ? goal : "", value: comma(values[goal]) });
  }
  if (!results.replace.length && !results.replicate.length) throw new Error("Check at least one row.");
  if (results.replace.length) await told(results.replace, true);
  if (results.replicate.length) await told(results.replicate, false, true);
  leave();
}

function leave() {
  renew.drop = null;
  history.replaceState(null, "", `${location.pathname}?tab=results`);
  main.querySelector("#drop").removeAttribute("data-load");
  main.querySelector("#drop").replaceChildren();
  return renew();
}

async function load(place, changes = {}) {
  const asked = { ...JSON.parse(place.dataset.asked), ...changes };
  place.dataset.asked = JSON.stringify(asked);
  if (place.dataset.load === "preview") return preview(asked);
  place.innerHTML = await view(await run(place.dataset.load, asked));
}

async function download(kind, asked) {
  const { result } = await run("file", { ...asked, kind: `.${kind}` });
  const bytes = Uint8Array.from(atob(result), (letter) => letter.charCodeAt(0));
  const link = element("a", "", { download: `${asked.which}.${kind}`, href: URL.createObjectURL(new Blob([bytes])) });
  link.click();
}

async function invite() {
  const given = await ask("Invite a colleague", "The link lets one person in, once.", ["Make a link"], "Their name");
  if (!given) return;
  const answer = await fetch(`/invite?name=${encodeURIComponent(given.text)}`, { method: "POST" });
  const { link, is_local } = await answer.json();
  const where = is_local ? " It works on this machine only." : "";
  show("");
  dialog.prepend(element("p", `Send this link to ${given.text || "your colleague"}.${where}`), element("code", link));
}

// What people do.

const name = () => document.getElementById("by")?.value.trim() ?? "";
const asked = (place) => JSON.parse(place.dataset.asked ?? "{}");

async function tried(call) {
  said.hidden = true;
  try {
    await call();
  } catch (error) {
    work(null);
    say(error.message, true);
  }
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method === "dialog") return;
  event.preventDefault();
  if ("ask" in form.dataset) tried(() => suggest(settings(form)).then(() => forget(form.elements)));
  if ("new" in form.dataset) tried(() => create(form));
  if ("accept" in form.dataset) tried(() => accept(form));
  if ("rows" in form.dataset) {
    const fields = [...form.elements].filter((field) => field.name);
    const given = Object.fromEntries(fields.map((field) => [field.name.slice("row-".length), value(field) ?? ""]));
    tried(() => load(form.closest("[data-load]"), { ...given, start: 0 }));
  }
});

document.addEventListener("click", (event) => {
  const place = event.target.closest("button, a");
  if (!place || place.form?.method === "dialog") return;
  const { post, view: operation, file, start, text, title, label } = place.dataset;
  if (post === "annotate") tried(() => annotate(asked(place), text, title, label));
  else if (post) tried(async () => {
    const { result } = await run(post, {});
    await renew();
    say(`${post === "undo" ? "Undone" : "Done again"}: ${result.answer.about}.`);
  });
  else if (operation) tried(async () => show(await view(await run(operation, asked(place)))));
  else if (file) tried(() => download(file, asked(place)));
  else if (start !== undefined) tried(() => load(place.closest("[data-load]"), { start: Number(start) }));
  else if ("ask" in place.dataset) tried(() => suggest());
  else if ("invite" in place.dataset) tried(invite);
  else if ("leave" in place.dataset) tried(leave);
  else if ("print" in place.dataset) print();
  if (operation) event.preventDefault();
});

document.addEventListener("input", (event) => {
  const field = event.target;
  if ("cell" in field.dataset) field.closest("tr").querySelector("[type=checkbox]").checked = true;
  if (keeps(field)) keep(field);
});

document.addEventListener("change", (event) => {
  const field = event.target;
  const data = field.dataset;
  if (field.id === "by") localStorage.setItem("graph-bandit-by", field.value);
  if (field.id === "as-table") main.classList.toggle("as-table", field.checked);
  if (field.type === "file") tried(() => dropped(field.closest("[data-drop]"), field.files[0]));
  if ("table" in data && field.value) {
    main.querySelector("form[data-new]").look = {};
    tried(() => look({ pool: field.value }));
  }
  if ("look" in data || "slot" in data) {
    const { kind, ...given } = main.querySelector("form[data-new]").look;
    const slot = [...main.querySelectorAll("[data-slot]:checked")].map((each) => each.value);
    tried(() => look({ ...given, ...("slot" in data ? { slot } : { [data.look]: field.value || null }) }));
  }
  const place = field.closest("#drop");
  if ("again" in data) tried(() => preview({ ...place.asked, [data.again]: field.value }));
  if ("againColumn" in data)
    tried(() => preview({ ...place.asked, columns: { ...place.asked.columns, [data.againColumn]: field.value } }));
});

document.addEventListener("focusout", (event) => {
  if (event.target.isConnected && isDirty(event.target)) tried(() => tell([event.target]));
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !("tell" in event.target.dataset)) return;
  event.preventDefault(); // else it would press the first button of the question that opens
  event.target.blur();
});

// A column of a spreadsheet goes into the fields of this column, from this field on.
document.addEventListener("paste", (event) => {
  const field = event.target;
  const lines = event.clipboardData.getData("text").replace(/\r/g, "").replace(/\n$/, "").split("\n");
  if (!("tell" in (field.dataset ?? {})) || lines.length < 2) return;
  event.preventDefault();
  const column = [...main.querySelectorAll(`[data-tell="${CSS.escape(field.dataset.tell)}"]`)];
  const from = column.indexOf(field);
  const pairs = lines.map((line, k) => {
    const cells = line.split("\t").map((cell) => cell.trim());
    const own = cells.length > 1 && column.find((each) => each.dataset.id === cells[0]);
    return [own || column[from + k], own ? cells[1] : cells[0]];
  });
  const filled = pairs.filter(([each, text]) => each && text);
  for (const [each, text] of filled) each.value = text;
  for (const [each] of filled) keep(each);
  tried(async () => {
    await tell(filled.map(([each]) => each));
    const left = pairs.filter(([each, text]) => !each && text).length;
    if (left) say(`The last ${left} lines have no row here, and were left out.`, true);
  });
});

async function dropped(place, file) {
  if (!file) return;
  const kind = file.name.toLowerCase().match(/(\.\w+)(\.gz)?$/)?.[0] ?? "";
  const table = await send(file);
  if (place.dataset.drop === "preview") {
    history.replaceState(null, "", `${location.pathname}?tab=results&table=${encodeURIComponent(table)}`);
    return preview({ table });
  }
  place.closest("form").look = { kind };
  const title = place.closest("form").elements.title;
  title.value ||= file.name.split(".")[0];
  return look({ pool: table });
}

for (const kind of ["dragover", "drop"])
  document.addEventListener(kind, (event) => {
    const place = event.target.closest?.("[data-drop]");
    if (!place) return;
    event.preventDefault();
    if (kind === "drop") tried(() => dropped(place, event.dataTransfer.files[0]));
  });

function begin() {
  fill();
  const notes = document.getElementById("notes");
  if (notes) notes.lastElementChild.textContent = sessionStorage.getItem(`notes ${campaign()}`) ?? "";
  if (notes) notes.hidden = !notes.lastElementChild.textContent;
  for (const place of main.querySelectorAll("[data-load]"))
    if (!place.querySelector("form")) tried(() => load(place));
  main.classList.toggle("as-table", document.getElementById("as-table")?.checked ?? false);
}

const by = document.getElementById("by");
if (by) by.value ||= localStorage.getItem("graph-bandit-by") ?? "";
begin();
setInterval(async () => {
  if (document.hidden) return;
  queue();
  if (!campaign() || own || dialog.open || isDirty(document.activeElement)) return;
  const headers = { "if-none-match": `"${article().dataset.version}"` };
  const answer = await fetch(`${API}/campaigns/${campaign()}`, { headers });
  if (answer.status === 200) renew();
}, 3000);
