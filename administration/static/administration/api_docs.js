// The search of /api/docs: filters operations by path, summary, id, topic and codes.
"use strict";

const form = document.querySelector(".search");
const input = form.querySelector("input");
const found = form.querySelector("output");
const commons = [...document.querySelectorAll(".common, .contents")];
const sections = [...document.querySelectorAll("section.tag")].map((section) => ({
  section,
  operations: [...section.querySelectorAll(".operation")].map((details) => ({
    details,
    summary: details.querySelector("summary"),
    text: [
      section.querySelector("h2").textContent,
      details.id,
      details.querySelector("summary").textContent,
      ...[...details.querySelectorAll(".codes code, .shared code")].map((code) => code.textContent),
    ].join(" ").toLowerCase(),
  })),
}));
const operations = sections.flatMap((each) => each.operations);

const listShown = () => operations.filter((each) => !each.details.hidden);

function search() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const { section, operations: own } of sections) {
    for (const { details, text } of own) {
      details.hidden = !words.every((word) => text.includes(word));
    }
    section.hidden = own.every(({ details }) => details.hidden);
  }
  for (const common of commons) common.hidden = words.length > 0;
  const { one, many, none } = found.dataset;
  const count = listShown().length;
  found.textContent =
    words.length === 0 ? "" : count === 0 ? none : count === 1 ? one : many.replace("{count}", count);
  const address = new URL(location.href);
  if (words.length) address.searchParams.set("q", input.value);
  else address.searchParams.delete("q");
  history.replaceState(null, "", address);
}

function endSearch() {
  input.value = "";
  search();
}

// Opens what the address names, also as addresses of earlier versions do: #/Entries/createEntry.
function openTarget() {
  const name = decodeURIComponent(location.hash.slice(1)).split("/").pop();
  const target = name && document.getElementById(name);
  if (!target) return;
  if (target.closest("[hidden]")) endSearch();
  if (target.matches("details")) target.open = true;
  target.scrollIntoView();
}

function move(from, step) {
  const summaries = listShown().map((each) => each.summary);
  const next = summaries[summaries.indexOf(from) + step];
  if (next) next.focus();
  else if (step < 0) input.focus();
}

input.addEventListener("input", search);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  const [first] = listShown();
  if (!first) return;
  first.details.open = true;
  first.summary.focus();
});
document.addEventListener("keydown", (event) => {
  const isTyping = event.target === input;
  const summary = event.target.closest?.(".operation > summary");
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/" && !isTyping) input.select();
  else if (event.key === "Escape" && (isTyping || summary)) {
    endSearch();
    input.focus();
  } else if (event.key === "ArrowDown" && (isTyping || summary)) move(summary, 1);
  else if (event.key === "ArrowUp" && summary) move(summary, -1);
  else return;
  event.preventDefault();
});
window.addEventListener("hashchange", openTarget);

form.hidden = false;
input.value = new URLSearchParams(location.search).get("q") ?? "";
search();
openTarget();
