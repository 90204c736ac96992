"use strict";

// Keys of the page of a case: those that its buttons show, Enter, and ? for help.
(() => {
  const form = document.getElementById("decision-form");
  const isTyping = (element) =>
    element.matches("textarea, select, input:not([type=radio]), [contenteditable]");
  const followsEnter = (element) => element.matches("a[href], button, summary");

  const submit = () => {
    if (form !== null && form.querySelector("[name=action]:checked") !== null) {
      form.requestSubmit();
    }
  };

  const choose = (key) => {
    const chosen = [...document.querySelectorAll("[data-key]")].find(
      (element) => element.dataset.key === key,
    );
    if (chosen === undefined) {
      return false;
    }
    chosen.focus();
    chosen.click();
    return true;
  };

  const toggleHelp = () => {
    const help = document.getElementById("keys");
    if (help !== null) {
      help.open = !help.open;
    }
  };

  document.addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (event.isComposing || event.repeat || event.altKey || event.metaKey) {
      return;
    }
    if (key === "Enter" && event.ctrlKey && target.name === "note") {
      event.preventDefault();
      submit();
      return;
    }
    if (event.ctrlKey || isTyping(target)) {
      return;
    }
    if (key === "Enter") {
      if (!followsEnter(target)) {
        event.preventDefault();
        submit();
      }
    } else if (key === "?") {
      toggleHelp();
    } else if (!event.shiftKey && choose(key.toLowerCase())) {
      event.preventDefault();
    }
  });

  // One decision for one press.
  let isSent = false;
  form?.addEventListener("submit", (event) => {
    if (isSent) {
      event.preventDefault();
    }
    isSent = true;
  });
  // The page may come back from the history of the browser.
  window.addEventListener("pageshow", () => {
    isSent = false;
  });
})();
