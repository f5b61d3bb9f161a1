// One listener for all buttons and keys: the page itself is made by the server.
(() => {
  document.documentElement.lang = "en";
  const secret = () => location.pathname.split("/")[2] || "";
  const send = (what) => emitEvent("fogplay", { ...what, secret: secret() });
  let timer = null;
  // How cards look is this browser's own matter. Pictures of cards come as one file, whatever cards are in play.
  const wide = matchMedia("(min-width:900px)");
  const chosen = (what) => localStorage.getItem("fogplay-" + what);
  const look = () => ({ cards: chosen("cards") || (wide.matches ? "faces" : "drawn"), suits: chosen("suits") || "two" });
  let sheet = null, sheetIsThere = false;
  const fetchSheet = async () => {
    const answer = await fetch(document.querySelector("meta[name=fogplay-cards]").content);
    if (!answer.ok) return;
    const place = document.createElement("div");
    place.className = "only-said";
    place.setAttribute("aria-hidden", "true");
    place.innerHTML = await answer.text();
    document.body.append(place);
    sheetIsThere = true;
    dress();
  };
  const dress = () => {
    const now = look(), root = document.documentElement.classList;
    if (now.cards === "faces" && !sheet && document.querySelector(".pictured")) sheet = fetchSheet().catch(() => {});
    root.toggle("four", now.suits === "four");
    root.toggle("faces", now.cards === "faces" && sheetIsThere);
    for (const button of document.querySelectorAll("button[data-look]"))
      button.setAttribute("aria-pressed", String(now[button.dataset.look] === button.dataset.value));
  };
  wide.addEventListener("change", () => dress());
  // The server may make the page again between press and release: a button that says the same is the same button.
  let pressed = null;
  const under = (event) => event.target.closest && event.target.closest("button[data-do],button[data-look]");
  const meaning = (button) => (button ? JSON.stringify(button.dataset) : null);
  document.addEventListener("pointerdown", (event) => { pressed = event.button === 0 ? meaning(under(event)) : null; });
  document.addEventListener("pointerup", (event) => {
    const button = under(event);
    if (pressed !== null && meaning(button) === pressed) deed(button);
    pressed = null;
  });
  document.addEventListener("click", (event) => { if (event.detail === 0) deed(under(event)); }); // keys and programs
  const deed = (button) => {
    if (!button || button.disabled) return;
    if (button.dataset.look) { localStorage.setItem("fogplay-" + button.dataset.look, button.dataset.value); dress(); return; }
    const moves = button.closest(".moves");
    if (moves && document.querySelector("[data-room]")) { // until the server has made the page again
      moves.classList.add("sent");
      setTimeout(() => {
        const turn = document.querySelector("#turn");
        if (moves.isConnected && turn) turn.textContent = "The others are thinking …";
      }, 800);
    }
    if (button.dataset.do === "typed") {
      const field = document.querySelector("input.typed");
      send({ ...button.dataset, text: field ? field.value : "" });
    } else send({ ...button.dataset });
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const field = event.target.closest && event.target.closest("input,textarea,select");
    if (field) {
      if (event.key === "Enter" && field.classList.contains("typed")) document.querySelector("[data-do=typed]").click();
      return;
    }
    const key = event.key === "Enter" && event.target.tagName !== "BUTTON" ? "n" : event.key.toLowerCase();
    const found = [...document.querySelectorAll("button[data-key]")].find((b) => b.dataset.key.split(" ").includes(key));
    if (found) { event.preventDefault(); found.click(); }
  });
  // Cells of a chart: a pointer or the arrow keys choose one, and the line above says what it is.
  const cells = () => [...document.querySelectorAll("svg g[tabindex]")];
  const tell = (event) => {
    const cell = event.target.closest && event.target.closest("svg g[tabindex]"), line = document.querySelector("#cell");
    if (cell && line && line.textContent !== cell.getAttribute("aria-label")) line.textContent = cell.getAttribute("aria-label");
  };
  document.addEventListener("pointerover", tell);
  document.addEventListener("focusin", tell);
  document.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -13, ArrowDown: 13, Home: -169, End: 169 }[event.key];
    const all = cells(), at = all.indexOf(document.activeElement);
    if (at < 0 || step === undefined) return;
    event.preventDefault();
    const first = at - (at % 169), next = all[Math.min(Math.max(at + step, first), first + 168)];
    all[at].tabIndex = -1; next.tabIndex = 0; next.focus();
  });
  // The page is made again as a whole: the focus goes to the button that means the same, or to the next move.
  let focused = null;
  document.addEventListener("focusin", (event) => {
    const button = under(event);
    focused = button ? { button, meaning: meaning(button), move: !!button.closest(".moves") } : null;
  });
  const refocus = () => {
    if (!focused || focused.button.isConnected || document.activeElement !== document.body) return;
    const all = [...document.querySelectorAll("button[data-do],button[data-look]")];
    const same = all.find((button) => meaning(button) === focused.meaning);
    const next = same || (focused.move && document.querySelector(".moves button"));
    if (next) next.focus({ preventScroll: true });
  };
  // A screen reader is told what is new; an element that stays says it, since the others are made again.
  const said = document.createElement("div");
  said.className = "only-said";
  said.setAttribute("role", "status");
  let lines = 0, turn = null;
  const announce = () => {
    const now = document.querySelector("#turn");
    if (!now) return;
    if (!said.isConnected) document.body.append(said);
    const log = [...document.querySelectorAll(".log li")].map((line) => line.textContent);
    if (turn === now.textContent && lines === log.length) return;
    const fresh = log.slice(log.length > lines ? lines : 0);
    said.textContent = [...fresh, now.textContent].join(" ");
    turn = now.textContent; lines = log.length;
  };
  const settle = () => {
    dress();
    refocus();
    announce();
    for (const bar of document.querySelectorAll(".q-loading-bar:not([aria-label])")) bar.setAttribute("aria-label", "Loading");
    for (const list of document.querySelectorAll(".q-menu[role=listbox]:not([aria-label])")) {
      const owner = document.querySelector(`[role=combobox][aria-controls="${list.id}"]`);
      list.setAttribute("aria-label", (owner && owner.getAttribute("aria-label")) || "Choices");
    }
    const field = document.querySelector("input.typed");
    if (field && document.activeElement === document.body && matchMedia("(hover:hover)").matches) field.focus();
    const next = document.querySelector("button[data-auto]");
    if (!next) { clearTimeout(timer); timer = null; }
    else if (!timer) timer = setTimeout(() => { timer = null; next.isConnected ? next.click() : settle(); }, +next.dataset.auto);
    const log = document.querySelector(".log");
    if (log) log.scrollTop = log.scrollHeight;
    const here = document.querySelector("[data-room]");
    if (here) {
      const rooms = JSON.parse(localStorage.getItem("fogplay-rooms") || "{}");
      rooms[location.pathname] = here.dataset.room;
      const kept = Object.entries(rooms).slice(-8);
      localStorage.setItem("fogplay-rooms", JSON.stringify(Object.fromEntries(kept)));
    }
    for (const link of document.querySelectorAll("a[data-in-room]:not([href])")) // the server never writes a secret
      link.href = ["/room", secret(), link.dataset.inRoom].filter(Boolean).join("/");
    const list = document.querySelector("#rooms"), none = document.querySelector("#no-rooms");
    if (none && list && list.children.length) none.remove();
    if (list && !list.children.length) {
      for (const [path, name] of Object.entries(JSON.parse(localStorage.getItem("fogplay-rooms") || "{}")).reverse()) {
        if (!/^\/room\/[\w-]+$/.test(path)) continue;
        const item = document.createElement("li"), link = document.createElement("a");
        link.href = path; link.textContent = name; item.append(link); list.append(item);
      }
    }
  };
  new MutationObserver(settle).observe(document.documentElement, { childList: true, subtree: true });
})();
