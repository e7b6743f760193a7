// Follow a job, remember a name, and check limits as they are typed. Without scripts the pages work, too.
"use strict";

for (const place of document.querySelectorAll("[data-follow]")) {
  const source = new EventSource(place.dataset.follow);
  source.onmessage = (event) => {
    const job = JSON.parse(event.data);
    place.querySelector("[data-status]").textContent = job.status;
    place.querySelector("[data-line]").textContent = job.progress.at(-1) ?? "";
    place.querySelector("[data-seconds]").textContent = job.seconds.toFixed(0);
    if (!["waiting", "running"].includes(job.status)) {
      source.close();
      location.reload();
    }
  };
  source.onerror = () => {
    source.close();
    setTimeout(() => location.reload(), 2000);
  };
}

const names = document.querySelectorAll("input[name=by]");
for (const input of names) {
  input.value ||= localStorage.getItem("graph-bandit-by") ?? "";
  input.addEventListener("change", () => {
    localStorage.setItem("graph-bandit-by", input.value);
    for (const other of names) other.value = input.value;
  });
}

// Results that were typed and not saved yet come back when another form of the page was sent.
const drafts = document.querySelectorAll("input[name^=value-]");
for (const input of drafts) {
  const key = `${location.pathname} ${input.name}`;
  input.value ||= sessionStorage.getItem(key) ?? "";
  input.addEventListener("input", () => sessionStorage.setItem(key, input.value));
}
document.getElementById("results")?.addEventListener("submit", () => {
  for (const input of drafts) sessionStorage.removeItem(`${location.pathname} ${input.name}`);
});

for (const area of document.querySelectorAll("[data-check]")) {
  let timer = 0;
  area.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const query = new URLSearchParams({ kind: area.dataset.check, text: area.value });
      const answer = await fetch(`/check?${query}`);
      area.setCustomValidity(answer.status === 422 ? await answer.text() : "");
      area.reportValidity();
    }, 400);
  });
}
