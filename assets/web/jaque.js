// Freshness for pages that work without it: listens to the change stream and
// swaps what changed, and shows times in the viewer's own zone.
(() => {
  "use strict";
  const body = document.body;
  const main = document.getElementById("main");
  const parts = ["live", "nav", "summary", "banner"];
  const html = (answer) => answer.headers.get("Content-Type")?.startsWith("text/html");
  const parse = (text) => new DOMParser().parseFromString(text, "text/html");

  // Times are rendered in UTC; the title gets the viewer's zone.
  const local = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
  const stamp = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit", timeZoneName: "short" });
  const zone = (root) => {
    for (const t of root.querySelectorAll("time[datetime]")) {
      t.title = local.format(new Date(t.dateTime));
    }
  };

  // A message looks like those of the server.
  const message = (name, text, link) => {
    const p = document.getElementById("message").content.cloneNode(true).firstElementChild;
    p.className = name;
    p.querySelector("span").textContent = text;
    if (link) p.append(Object.assign(document.createElement("a"), link));
    return p;
  };

  // On a small screen the navigation is one row: the page one is on is in sight.
  document.querySelector("#nav .here")?.scrollIntoView({ block: "nearest", inline: "center" });

  // What stands at the top, wherever the page is scrolled to: that what is
  // shown may be old, and why something that was asked for was not done.
  const bar = document.getElementById("lost");
  const told = document.getElementById("told");
  let since = null;
  let next = 0;
  const lost = (why) => {
    since ??= new Date();
    const text = why + " since " + stamp.format(since) + ". What you see may be old.";
    if (!bar.textContent.includes(text)) bar.replaceChildren(message("banner", text));
    clearTimeout(next);
    next = setTimeout(probe, 3000);
  };
  const found = () => {
    if (!since) return;
    since = null;
    clearTimeout(next);
    bar.replaceChildren();
    for (const p of document.querySelectorAll(".unanswered")) p.remove();
  };
  const silent = "No connection";
  const failing = (answer) => "jaque answers with an error (" + answer.status + ")";
  const probe = () => {
    if (document.hidden) return;
    if (body.dataset.live) { refresh(); return; }
    fetch("/livez", { cache: "no-store", signal: AbortSignal.timeout(10000) })
      .then((answer) => (answer.ok ? found() : lost(failing(answer))), () => lost(silent));
  };

  // A part is left alone while somebody types or what was asked for in it is
  // under way.
  const sending = new Map(); // forms under way, with what makes them usable again
  const typing = (a) => a && (/^(SELECT|TEXTAREA)$/.test(a.tagName) || (a.tagName === "INPUT" && !/^(checkbox|radio|button|submit)$/.test(a.type)));
  const busy = (el) => (el.contains(document.activeElement) && typing(document.activeElement)) || [...sending.keys()].some((f) => el.contains(f));

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
    count();
  };

  // What this page shows was taken out of the configuration: it stays to be
  // read, and nothing on it can be used.
  let seen = new Date();
  const gone = () => {
    found();
    if (body.classList.contains("gone")) return;
    body.classList.add("gone");
    document.title = "Not configured any more: " + document.title;
    const text = "This is not configured any more. Below is how it was at " + stamp.format(seen) + "; nothing can be done about it.";
    main.prepend(message("complaint", text, { href: "/", textContent: "All problems" }));
    window.scrollTo(0, 0);
    if (dialog.open) complain(text);
    for (const el of main.querySelectorAll("a[data-sheet], button, input")) {
      el.removeAttribute("data-key");
      el.removeAttribute("data-sheet");
      el.removeAttribute("href");
      if (el.tagName === "A") el.setAttribute("aria-disabled", "true");
      else el.disabled = true;
    }
  };

  let running = false;
  let again = false;
  const refresh = async () => {
    if (running) { again = true; return; }
    running = true;
    try {
      // The notice about what was asked for has been read by now, unless it says
      // that it is under way.
      const url = new URL(location.href);
      const waiting = document.querySelector("#notice.pending");
      url.searchParams.delete("asked");
      if (!waiting) url.searchParams.delete("did");
      const answer = await fetch(url, { headers: { Accept: "text/html" }, cache: "no-store", signal: AbortSignal.timeout(10000) });
      const fresh = html(answer) && parse(await answer.text());
      if (fresh && fresh.getElementById("live")) {
        if (body.classList.contains("gone")) { location.reload(); return; }
        seen = new Date();
        swap(fresh);
        const news = waiting && fresh.getElementById("notice");
        if (news && news.innerHTML !== waiting.innerHTML) waiting.replaceWith(news);
        found();
      } else if (answer.status === 404) {
        gone();
      } else {
        lost(failing(answer));
      }
    } catch {
      lost(silent);
    } finally {
      running = false;
      if (again) { again = false; refresh(); }
    }
  };

  // Forms of commands open in a dialog: the browser traps the focus in it and
  // closes it with Esc. What the server answers is a sheet again, or the page
  // that says what became of the command. A form on a page of its own works
  // the same way in its place.
  const dialog = document.createElement("dialog");
  dialog.setAttribute("aria-labelledby", "sheet-title");
  body.append(dialog);
  body.classList.add("scripted");
  const drafts = new Map(); // forms that were closed with something written in them, by address
  let opener = "";
  let from = ""; // address of the form in the dialog
  let written = false;
  let drop = false;
  let turn = 0; // counts what was opened: an answer that somebody else came before is thrown away

  const waits = (on) => on ? dialog.setAttribute("aria-busy", "true") : dialog.removeAttribute("aria-busy");
  const show = (sheet) => {
    dialog.replaceChildren(sheet);
    if (!dialog.open) dialog.showModal();
  };
  const place = (sheet, page) => {
    zone(sheet);
    waits(false);
    const old = page && main.querySelector("#sheet");
    if (old) {
      old.replaceWith(sheet);
      window.scrollTo(0, 0);
    } else {
      show(sheet);
    }
    (sheet.querySelector("[autofocus]") ?? sheet.querySelector("input:not([type=hidden]), select, textarea") ?? sheet.querySelector("#sheet-title")).focus();
  };

  // complain says above the form, or at the top of the page, why something was
  // not done. What was written stays.
  const complain = (text, link, name = "") => {
    const sheet = dialog.open ? dialog.querySelector(".sheet") : main.querySelector("#sheet");
    for (const p of document.querySelectorAll(".said-here")) p.remove();
    if (!sheet) {
      const p = message("banner said-here " + name, text, link);
      p.setAttribute("role", "alert");
      const close = Object.assign(document.createElement("button"), { type: "button", className: "plain", textContent: "Close" });
      close.addEventListener("click", () => p.remove());
      p.append(close);
      told.replaceChildren(p);
      return;
    }
    const p = message("complaint said-here " + name, text, link);
    p.setAttribute("role", "alert");
    sheet.querySelector("h1").after(p);
    p.scrollIntoView({ block: "nearest" });
    if (dialog.open) sheet.scrollTop = 0;
  };
  const failed = (answer, page) => {
    if (answer.status === 401) {
      const to = "/sign-in?back=" + encodeURIComponent(location.pathname + location.search);
      complain("You are not signed in any more, so nothing was done. What you wrote is kept: sign in, then send it again.",
        { href: to, target: "_blank", textContent: "Sign in in a new tab" });
      return;
    }
    const title = page?.querySelector("main h1")?.textContent.trim() ?? answer.status + " " + answer.statusText;
    const detail = page?.querySelector("main .verdict p")?.textContent.trim() ?? "";
    complain([title, detail].filter(Boolean).join(": ").replace(/[^.?]$/, "$&."));
  };

  // take shows the sheet of an answer, says what went wrong, or goes where the
  // answer is. It returns which: placed, failed, left, or stale.
  const take = async (answer, page, stale = () => false) => {
    if (answer.redirected) { location.assign(answer.url); return "left"; }
    const doc = html(answer) ? parse(await answer.text()) : null;
    if (stale()) return "stale";
    const sheet = doc?.getElementById("sheet");
    if (sheet) { place(sheet, page); return "placed"; }
    if (answer.ok) { location.assign(answer.url); return "left"; }
    waits(false);
    failed(answer, doc);
    return "failed";
  };

  // tidy comes after the dialog was closed. Its news may be late: who opens the
  // next form tidies up first.
  const tidy = () => {
    const sheet = dialog.querySelector(".sheet");
    if (dialog.open || !sheet) return;
    turn++;
    waits(false);
    if (from && written && !drop) drafts.set(from, sheet);
    else drafts.delete(from);
    from = "";
    written = drop = false;
    dialog.replaceChildren();
    twin(document, opener)?.focus({ preventScroll: true });
  };

  // load opens the form at an address. The dialog is there at once, so that
  // what is typed before the form has come does not reach the page.
  const load = async (url, name) => {
    const kept = drafts.get(url);
    const first = !dialog.open;
    const mine = ++turn;
    told.replaceChildren();
    if (kept) {
      from = url;
      written = true;
      place(kept);
      if (!kept.querySelector(".kept")) kept.querySelector("h1").after(document.getElementById("kept").content.cloneNode(true));
      return;
    }
    waits(true);
    if (first) {
      const sheet = document.getElementById("waiting").content.cloneNode(true).firstElementChild;
      sheet.querySelector("h1").textContent = name;
      show(sheet);
      sheet.querySelector("h1").focus();
    }
    try {
      const answer = await fetch(url, { signal: AbortSignal.timeout(30000) });
      if (mine !== turn) return;
      if (await take(answer, false, () => mine !== turn) === "placed") {
        from = url;
        written = false;
      }
      dialog.querySelector(".waiting")?.remove();
    } catch {
      if (mine !== turn) return;
      waits(false);
      if (first) dialog.close();
      lost(silent);
    }
  };

  // hold keeps a form from being sent again while it is under way.
  const hold = (form, submitter) => {
    const buttons = [...form.elements].filter((b) => b.tagName === "BUTTON" && !b.disabled);
    const pressed = submitter ?? buttons.find((b) => b.type === "submit");
    const focus = document.activeElement;
    const label = [...(pressed?.childNodes ?? [])];
    form.setAttribute("aria-busy", "true");
    for (const b of buttons) b.disabled = true;
    if (pressed && label.length && !pressed.querySelector("svg")) {
      pressed.replaceChildren("Sending…");
      pressed.setAttribute("aria-busy", "true");
    }
    sending.set(form, () => {
      sending.delete(form);
      form.removeAttribute("aria-busy");
      for (const b of buttons) b.disabled = false;
      if (pressed?.hasAttribute("aria-busy")) {
        pressed.removeAttribute("aria-busy");
        pressed.replaceChildren(...label);
      }
      if (form.isConnected && (document.activeElement === body || document.activeElement === dialog)) focus?.focus({ preventScroll: true });
    });
  };

  const send = async (form, submitter) => {
    const data = new URLSearchParams(new FormData(form, submitter));
    const page = !dialog.contains(form);
    for (const p of document.querySelectorAll(".said-here")) p.remove();
    hold(form, submitter);
    let did = "";
    try {
      did = await take(await fetch(form.action, { method: "POST", body: data, signal: AbortSignal.timeout(30000) }), page);
    } catch {
      complain("No answer: it may have been done; look before you send it again.", null, "unanswered");
      probe();
    }
    if (did !== "left") sending.get(form)?.();
  };

  const underway = () => [...sending.keys()].some((f) => dialog.contains(f));
  dialog.addEventListener("cancel", (e) => { if (e.target === dialog && underway()) e.preventDefault(); });
  dialog.addEventListener("close", () => tidy());
  dialog.addEventListener("keydown", (e) => {
    if (dialog.hasAttribute("aria-busy") && e.key !== "Escape" && e.key !== "Tab") e.preventDefault();
  });
  dialog.addEventListener("input", () => { written = true; });

  document.addEventListener("click", (e) => {
    if (e.defaultPrevented || e.button || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey) return;
    const a = e.target.closest("a[data-sheet], dialog [data-close], dialog [data-anew]");
    if (!a) return;
    e.preventDefault();
    if ("close" in a.dataset) {
      if (underway()) return; // what was sent cannot be taken back
      drop = true;
      dialog.close();
      return;
    }
    if ("anew" in a.dataset) { drafts.delete(from); load(from, ""); return; }
    tidy();
    if (dialog.hasAttribute("aria-busy") || sending.size) return;
    if (!dialog.contains(a)) opener = sign(a);
    load(a.href, a.textContent.trim());
  });

  document.addEventListener("submit", (e) => {
    const form = e.target;
    const post = form.method === "post";
    const ours = "sheet" in form.dataset || form.matches(".fields") || dialog.contains(form);
    if (sending.has(form) || (ours && sending.size)) { e.preventDefault(); return; }
    if (!ours) {
      // The browser reads the form after this: its buttons must still be usable.
      if (post) setTimeout(() => { hold(form, e.submitter); setTimeout(() => sending.get(form)?.(), 15000); });
      if (post) sending.set(form, () => sending.delete(form));
      return;
    }
    e.preventDefault();
    tidy();
    if (form.id === "pick" && !chosen()) { count("Choose rows first."); return; }
    if (!dialog.contains(form)) opener = sign(e.submitter ?? document.activeElement);
    if (post) { send(form, e.submitter); return; }
    const url = new URL(form.action);
    url.search = new URLSearchParams(new FormData(form, e.submitter));
    load(url.href, e.submitter?.textContent.trim() ?? "");
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
  const all = () => document.querySelector("#pick [name=filter]:checked");
  const chosen = () => all() || document.querySelector(".row-pick:checked");
  const count = (complaint) => {
    const picked = document.getElementById("picked");
    if (!picked) return;
    const n = document.querySelectorAll(".row-pick:checked").length;
    const text = complaint ?? (all() ? all().closest("label").textContent.trim() + ": chosen" : n ? n + " chosen" : "");
    picked.classList.toggle("missing", complaint !== undefined);
    if (picked.textContent !== text) picked.textContent = text;
  };
  document.addEventListener("change", () => count());

  // A page that is gone back to has its boxes ticked again, and nothing on it
  // is under way any more.
  window.addEventListener("pageshow", (e) => {
    count();
    if (!e.persisted) return;
    for (const release of [...sending.values()]) release();
    if (dialog.open) {
      drop = true;
      dialog.close();
    }
    probe();
  });

  // Times in forms are in the zone of the browser until somebody writes another.
  if (!document.cookie.includes("jaque_zone=")) {
    const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
    if (own) document.cookie = "jaque_zone=" + encodeURIComponent(own) + "; path=/; max-age=34560000; samesite=lax";
  }

  // "/" goes to the search box, "?" lists the keys, letters do what they stand
  // on. Nothing happens while somebody types, has a form open or waits for an
  // answer.
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.repeat || dialog.open || sending.size || typing(document.activeElement)) return;
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
  count();
  document.addEventListener("visibilitychange", () => { if (since) probe(); });
  if (!body.dataset.live || !window.EventSource) return;

  // A stream that breaks says nothing about the page: asking for it does.
  let source = null;
  const listen = () => {
    if (source || document.hidden) return;
    source = new EventSource(body.dataset.live);
    source.addEventListener("open", () => { body.dataset.connected = "yes"; if (since) refresh(); });
    source.addEventListener("change", refresh);
    source.addEventListener("error", () => {
      body.dataset.connected = "no";
      refresh();
      if (source?.readyState !== EventSource.CLOSED) return;
      source = null; // the browser gives up on an answer that is no stream
      setTimeout(listen, 5000);
    });
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
  listen();

  // Ages grow by themselves.
  setInterval(() => { if (!document.hidden) refresh(); }, 30000);
})();
