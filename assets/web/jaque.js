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
  const typing = (a) => a && (/^(SELECT|TEXTAREA)$/.test(a.tagName) || (a.tagName === "INPUT" && !/^(checkbox|radio|button|submit)$/.test(a.type)));
  const busy = (el) => el.contains(document.activeElement) && typing(document.activeElement);

  // What is the same element in the page as it is now and as it was: the same
  // link, the same box, the same button of the same form.
  const sign = (el) => el && [el.tagName, el.getAttribute("href"), el.name, el.value, el.textContent].join("\n");
  const twin = (root, s) => [...root.querySelectorAll("a[href], button, input, summary")].find((el) => sign(el) === s);

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
      for (const box of old.querySelectorAll("input[type=checkbox]:checked")) {
        const same = twin(next, sign(box));
        if (same) same.checked = true;
      }
      const focus = old.contains(document.activeElement) && sign(document.activeElement);
      old.replaceChildren(...next.childNodes);
      if (focus) twin(old, focus)?.focus({ preventScroll: true });
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
      url.searchParams.delete("did");
      const answer = await fetch(url, { headers: { Accept: "text/html" }, cache: "no-store" });
      if (answer.headers.get("Content-Type")?.startsWith("text/html")) {
        swap(parse(await answer.text()));
        count();
        say("");
      }
    } catch {
      say("No connection; what you see may be old.");
    } finally {
      running = false;
      if (again) { again = false; refresh(); }
    }
  };

  // Forms of commands open in a dialog: the browser traps the focus in it and
  // closes it with Esc. What the server answers is a sheet again, or the page
  // that says what became of the command.
  const dialog = document.createElement("dialog");
  dialog.setAttribute("aria-labelledby", "sheet-title");
  body.append(dialog);
  body.classList.add("scripted");
  let opener = "";

  const parse = (text) => new DOMParser().parseFromString(text, "text/html");

  const place = (sheet) => {
    zone(sheet);
    dialog.replaceChildren(sheet);
    if (!dialog.open) dialog.showModal();
    (dialog.querySelector("[autofocus]") ?? dialog.querySelector("input:not([type=hidden]), select, textarea, a") ?? dialog).focus();
  };

  // take shows the sheet of an answer, or goes where the answer is.
  const take = async (answer) => {
    if (!answer.headers.get("Content-Type")?.startsWith("text/html")) { location.assign(answer.url); return; }
    const page = parse(await answer.text());
    const sheet = page.getElementById("sheet");
    if (answer.redirected || (answer.ok && !sheet)) { location.assign(answer.url); return; }
    if (sheet) { place(sheet); return; }
    const failed = document.createElement("section");
    failed.id = "sheet";
    failed.append(...page.getElementById("main").childNodes);
    place(failed);
  };

  const send = async (form, submitter) => {
    const data = new URLSearchParams(new FormData(form, submitter));
    const url = new URL(form.action);
    try {
      if (form.method === "get") {
        url.search = data;
        await take(await fetch(url));
      } else {
        await take(await fetch(url, { method: "POST", body: data }));
      }
    } catch {
      const lost = document.createElement("p");
      lost.className = "complaint";
      lost.setAttribute("role", "alert");
      lost.textContent = "No connection; nothing was sent.";
      (dialog.open ? dialog : document.getElementById("main")).prepend(lost);
    }
  };

  dialog.addEventListener("close", () => {
    if (dialog.open) return; // the next form was quicker than the news of the last one
    dialog.replaceChildren();
    twin(document, opener)?.focus({ preventScroll: true });
  });

  document.addEventListener("click", (e) => {
    if (e.defaultPrevented || e.button || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey) return;
    const a = e.target.closest("a[data-sheet], dialog a[data-close]");
    if (!a) return;
    e.preventDefault();
    if ("close" in a.dataset) { dialog.close(); return; }
    if (!dialog.contains(a)) opener = sign(a);
    fetch(a.href).then(take).catch(() => location.assign(a.href));
  });

  document.addEventListener("submit", (e) => {
    const form = e.target;
    if (!("sheet" in form.dataset) && !dialog.contains(form)) return;
    e.preventDefault();
    if (!dialog.contains(form)) opener = sign(e.submitter ?? document.activeElement);
    send(form, e.submitter);
  });

  // The preview follows what is filled in.
  let pause = 0;
  let asked = 0;
  const foresee = async (form) => {
    const mine = ++asked;
    const data = new URLSearchParams(new FormData(form));
    data.set("step", "preview");
    try {
      const answer = await fetch(form.action, { method: "POST", body: data });
      const next = parse(await answer.text()).getElementById("preview");
      const old = form.querySelector("#preview");
      if (mine === asked && next && old) old.replaceChildren(...next.childNodes);
    } catch {
      // The look before it is done says it again.
    }
  };
  document.addEventListener("input", (e) => {
    const form = e.target.form;
    if (form?.matches(".fields") && form.querySelector(".preview-button")) {
      clearTimeout(pause);
      pause = setTimeout(() => foresee(form), 300);
    }
  });

  // How many rows are chosen.
  const count = () => {
    const picked = document.getElementById("picked");
    if (!picked) return;
    const n = document.querySelectorAll(".row-pick:checked").length;
    const text = n ? n + " chosen" : "";
    if (picked.textContent !== text) picked.textContent = text;
  };
  document.addEventListener("change", count);

  // Times in forms are in the zone of the browser until somebody writes another.
  if (!document.cookie.includes("jaque_zone=")) {
    const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
    if (own) document.cookie = "jaque_zone=" + encodeURIComponent(own) + "; path=/; max-age=34560000; samesite=lax";
  }

  // "/" goes to the search box, "?" lists the keys, letters do what they stand
  // on. Nothing happens while somebody types or has a form open.
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || dialog.open || typing(document.activeElement)) return;
    if (e.key === "/") {
      e.preventDefault();
      document.getElementById("find")?.focus();
      return;
    }
    const known = [...document.querySelectorAll("[data-key]")].find((el) => el.dataset.key === e.key && !el.disabled);
    if (!known) return;
    e.preventDefault();
    known.focus();
    known.click();
  });

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
})();
