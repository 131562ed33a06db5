// Freshness for pages that work without it: listens to the change stream and
// swaps what changed, and shows times in the viewer's own zone.
(() => {
  "use strict";
  const body = document.body;
  const parts = ["live", "nav", "summary", "banner"];
  const link = document.getElementById("link");

  // Times are rendered in UTC; the title gets the viewer's zone.
  const local = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
  const zone = (root) => {
    for (const t of root.querySelectorAll("time[datetime]")) {
      t.title = local.format(new Date(t.dateTime));
    }
  };

  const say = (text) => {
    if (!link) return;
    link.textContent = text;
    link.hidden = text === "";
  };

  // A part is left alone while somebody types or has a button under the finger.
  const busy = (el) => {
    const a = document.activeElement;
    return a && el.contains(a) && /^(INPUT|SELECT|TEXTAREA)$/.test(a.tagName);
  };

  const swap = (fresh) => {
    document.title = fresh.title;
    for (const id of parts) {
      const old = document.getElementById(id);
      const next = fresh.getElementById(id);
      if (!old || !next || busy(old)) continue;
      for (const d of old.querySelectorAll("details[open][id]")) {
        const same = next.querySelector("#" + CSS.escape(d.id));
        if (same) same.open = true;
      }
      zone(next);
      if (old.innerHTML === next.innerHTML) continue;
      const focus = old.contains(document.activeElement) && document.activeElement.getAttribute("href");
      old.replaceChildren(...next.childNodes);
      if (focus) {
        const again = [...old.querySelectorAll("a[href]")].find((a) => a.getAttribute("href") === focus);
        if (again) again.focus({ preventScroll: true });
      }
    }
  };

  let running = false;
  let again = false;
  const refresh = async () => {
    if (running) { again = true; return; }
    running = true;
    try {
      // The notice about what was asked for has been read by now.
      const url = new URL(location.href);
      url.searchParams.delete("asked");
      const answer = await fetch(url, { headers: { Accept: "text/html" }, cache: "no-store" });
      if (answer.headers.get("Content-Type")?.startsWith("text/html")) {
        swap(new DOMParser().parseFromString(await answer.text(), "text/html"));
        say("");
      }
    } catch {
      say("No connection; what you see may be old.");
    } finally {
      running = false;
      if (again) { again = false; refresh(); }
    }
  };

  zone(document);
  if (!body.dataset.live || !window.EventSource) return;

  let source = null;
  const listen = () => {
    source = new EventSource(body.dataset.live);
    source.addEventListener("open", () => { body.dataset.connected = "yes"; say(""); });
    source.addEventListener("change", refresh);
    source.addEventListener("error", () => say("No connection; what you see may be old."));
  };

  // A hidden page asks for nothing and catches up when it is looked at.
  const look = () => {
    if (document.hidden) {
      source?.close();
      source = null;
    } else if (!source) {
      listen();
      refresh();
    }
  };
  document.addEventListener("visibilitychange", look);
  if (!document.hidden) listen();

  // Ages grow by themselves.
  setInterval(() => { if (!document.hidden) refresh(); }, 30000);

  // "/" goes to the search box.
  document.addEventListener("keydown", (e) => {
    if (e.key !== "/" || e.ctrlKey || e.metaKey || e.altKey) return;
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName ?? "")) return;
    e.preventDefault();
    document.getElementById("find")?.focus();
  });
})();
