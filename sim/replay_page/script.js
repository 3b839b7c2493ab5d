"use strict";
(function () {
  var data = JSON.parse(document.getElementById("data").textContent);
  var UI = {
    zh: { title: "扯胡子牌局回放", events: "经过", of: "步", wall: "牌墙", peek: "翻看牌墙", drew: "摸出", threw: "打出",
      hidden: "（暗）", must: "必须", passed: "过", took: "取", choices: "可选", huxi: "息", thrown: "打出", drawn: "摸出",
      dead: "死手", down: "（暗）", sits: "旁坐，不发牌", win: "胡牌", pays: "收付", first: "到开头", back: "上一步", play: "播放",
      pause: "暂停", next: "下一步", last: "到结尾", slider: "步数", speed: "速度", game: "选择牌局", lang: "English",
      keys: ["上一步 / 下一步", "开头 / 结尾", "播放 / 暂停", "上一局 / 下一局"], space: "空格", nocard: "台面无牌", none: "无", wallback: "合上牌墙" },
    en: { title: "Chehuzi replay", events: "Events", of: "step", wall: "wall", peek: "Look at the wall", drew: "drawn by", threw: "discarded by",
      hidden: " (hidden)", must: "must", passed: "passed", took: "took", choices: "of", huxi: "huxi", thrown: "discarded", drawn: "drawn",
      dead: "dead hand", down: " (down)", sits: "sits out, holds no cards", win: "The win", pays: "Payments", first: "To the start", back: "Back one step", play: "Play",
      pause: "Pause", next: "Next step", last: "To the end", slider: "Step", speed: "Speed", game: "Choose a game", lang: "中文",
      keys: ["back / next", "start / end", "play / pause", "previous / next game"], space: "Space", nocard: "no card on the table", none: "none", wallback: "Close the wall" }
  };
  var RED = "二七十贰柒拾", SMALL = "一二三四五六七八九十";
  var lang = data.lang, game = 0, step = 0, timer = null, peeking = false;
  function $(id) { return document.getElementById(id); }
  function el(tag, cls, text) {
    var node = document.createElement(tag);
    if (cls) node.className = cls;
    if (text !== undefined && text !== null) node.textContent = text;
    return node;
  }
  function ui(key) { return UI[lang][key]; }
  function kindClass(face) { return face === "王" ? " wang" : RED.indexOf(face) >= 0 ? " red" : ""; }
  function card(face, extra) {
    var node = el("div", "c" + kindClass(face) + (extra || ""));
    node.append(el("i", "", face), el("i", "", face === "王" ? "霸" : face));
    return node;
  }
  function back() { return el("div", "c back"); }
  function mini(face, extra) { return el("span", "m" + kindClass(face) + (extra || ""), face); }
  function stack(faces, hidden) {
    var node = el("div", "stack");
    Array.from(faces).forEach(function (face, i, all) {
      node.append(hidden && i < all.length - 1 ? back() : card(face, hidden ? " face-down" : ""));
    });
    return node;
  }
  function seatName(seat) { return lang === "zh" ? seat + "号" : "seat " + seat; }
  function seatLong(seat) { return seatName(seat) + " " + data.words[lang].roles[G().roles[seat]]; }
  function G() { return data.games[game]; }
  function F() { return G().frames[step]; }
  function type(name) { return data.words[lang].types[name] || name; }

  function meldNode(name, cards, huxi, hidden, fresh) {
    var node = el("div", "meld" + (fresh ? " new" : ""));
    node.append(stack(cards, hidden));
    var label = el("b", "", type(name) + (hidden ? ui("down") : ""));
    node.append(label);
    if (huxi !== null) node.append(el("span", "", lang === "zh" ? huxi + "息" : String(huxi)));
    return node;
  }
  function handNode(hand) {
    var node = el("div", "hand"), faces = Array.from(hand), i = 0, last = null;
    while (i < faces.length) {
      var j = i;
      while (j < faces.length && faces[j] === faces[i]) j++;
      var part = faces[i] === "王" ? 2 : SMALL.indexOf(faces[i]) >= 0 ? 0 : 1;
      if (last !== null && part !== last) node.append(el("span", "gap"));
      last = part;
      node.append(stack(faces.slice(i, j)));
      i = j;
    }
    return node;
  }
  function pileGroup(label, faces) {
    var node = el("span", "group");
    node.append(el("em", "", label));
    Array.from(faces).forEach(function (face) { node.append(mini(face)); });
    return node;
  }
  function seatNode(frame, seat) {
    var view = frame.seats[seat], role = G().roles[seat];
    var node = el("section", "seat " + role + (frame.turn === seat ? " turn" : ""));
    node.setAttribute("aria-label", seatLong(seat));
    node.dataset.seat = seat;
    var who = el("div", "who");
    var name = el("div", "name", seatLong(seat));
    if (view.dead) name.append(el("span", "tag", ui("dead")));
    who.append(name);
    if (G().bots[seat]) who.append(el("div", "bot", G().bots[seat]));
    if (role !== "sitter") {
      var huxi = el("span", "huxi", view.huxi + " ");
      huxi.append(el("small", "", ui("huxi") + (view.kans ? (lang === "zh" ? "（坎 " + view.kans + "）" : " (kan " + view.kans + ")") : "")));
      who.append(huxi);
    }
    if (frame.scores && frame.scores[seat] !== undefined) {
      var score = frame.scores[seat];
      who.append(el("span", "score" + (score > 0 ? " plus" : ""), (score > 0 ? "+" : "") + String(score).replace("-", "−")));
    }
    node.append(who);
    if (role === "sitter") {
      node.append(el("div", "", ui("sits")));
      return node;
    }
    var cards = el("div", "cards"), melds = el("div", "melds");
    view.melds.forEach(function (m) { melds.append(meldNode(m[0], m[1], m[2], m[3], m[4])); });
    cards.append(handNode(view.hand), melds);
    node.append(cards);
    var pile = el("div", "pile");
    if (view.thrown) pile.append(pileGroup(ui("thrown"), view.thrown));
    if (view.drawn) pile.append(pileGroup(ui("drawn"), view.drawn));
    node.append(pile);
    return node;
  }
  function optionText(groups) { return groups.split("+").join(" + "); }
  function offerNode(o) {
    var seat = o[0], option = o[1], state = o[2], forced = o[3], choices = o[4], chosen = o[5];
    var node = el("li", state);
    var text = seatName(seat) + " " + data.words[lang].options[option];
    if (state === "passed") text += " · " + ui("passed");
    else if (state === "taken") text += " · " + (chosen ? optionText(chosen) : ui("took"));
    else if (forced) text += " · " + ui("must");
    node.append(document.createTextNode(text));
    var more = option === "discard" ? choices.length > 1 : choices.length > (state === "taken" ? 1 : 0);
    if (more) {
      var all = option === "discard" ? choices.join("") : choices.map(optionText).join(" / ");
      node.append(el("span", "of", ui("choices") + " " + all));
    }
    return node;
  }
  function standsFor(cards, faces) {
    var left = Array.from(cards);
    Array.from(faces).forEach(function (face) { if (face !== "王") left.splice(left.indexOf(face), 1); });
    return left.join("");
  }
  function resultNode(frame) {
    if (!frame.win && !frame.pays) return null;
    var node = el("div", "result" + (frame.win ? " won" : ""));
    if (frame.win) {
      node.append(el("h2", "", ui("win") + " · " + seatLong(frame.win.seat)));
      var melds = el("div", "melds");
      frame.win.groups.forEach(function (g) {
        var m = meldNode(g[0], g[2], g[3], 0, g[4]);
        if (g[2].indexOf("王") >= 0) m.append(el("span", "stands", "王=" + standsFor(g[1], g[2])));
        melds.append(m);
      });
      node.append(melds);
    } else {
      node.append(el("h2", "", ui("pays")));
    }
    var list = el("ul", frame.win ? "" : "pays");
    var lines = frame.win ? frame.win.steps[lang] : frame.pays[lang];
    (lines.length ? lines : [ui("none")]).forEach(function (line) { list.append(el("li", "", line)); });
    node.append(list);
    return node;
  }
  function whyNodes(why) {
    var table = el("table");
    why.rows.forEach(function (row) {
      var line = el("tr", row[0] ? "chosen" : "");
      line.append(el("td", "", row[0] ? "✓" : ""));
      row.slice(1).forEach(function (text, i) { if (text || i !== 3) line.append(el("td", i < 1 ? "option" : "", text)); });
      table.append(line);
    });
    return [el("p", "", why.head), table].concat(why.reason.map(function (text) { return el("p", "reason", text); }));
  }
  function draw() {
    var frame = F(), frames = G().frames;
    $("headline").textContent = frame.text[lang];
    var spot = $("spot");
    spot.textContent = "";
    spot.className = "spot" + (frame.card ? "" : " none");
    if (frame.card) spot.append(card(frame.card[0], " hot" + (frame.card[3] ? " face-down" : "")));
    var where = ui("nocard");
    if (frame.card) {
      var how = frame.card[2] ? "drew" : "threw";
      where = lang === "zh" ? seatLong(frame.card[1]) + ui(how) : ui(how) + " " + seatLong(frame.card[1]);
      if (frame.card[3]) where += ui("hidden");
    }
    $("where").textContent = where;
    $("offers").replaceChildren.apply($("offers"), frame.offers.map(offerNode));
    $("wall").textContent = frame.wall;
    $("wall").title = ui(peeking ? "wallback" : "peek");
    $("wall").setAttribute("aria-label", ui("peek") + " (" + frame.wall + ")");
    $("wall").setAttribute("aria-expanded", String(peeking));
    $("walllabel").textContent = ui("wall");
    var peek = $("peek"), used = G().wall.length - frame.wall;
    peek.hidden = !peeking;
    peek.replaceChildren.apply(peek, Array.from(G().wall).map(function (face, i) { return mini(face, i < used ? " used" : ""); }));
    var faults = (frame.faults || []).map(function (f) { return el("div", "fault", "⚠ " + f[lang]); });
    $("faults").replaceChildren.apply($("faults"), faults);
    var dealer = G().roles.indexOf("dealer"), count = G().roles.length, order = [];
    for (var i = 0; i < count; i++) order.push((dealer + i) % count);
    order.sort(function (a, b) { return (G().roles[a] === "sitter") - (G().roles[b] === "sitter"); });
    $("seats").replaceChildren.apply($("seats"), order.map(function (seat) { return seatNode(frame, seat); }));
    $("why").replaceChildren.apply($("why"), frame.why ? whyNodes(frame.why[lang]) : []);
    var result = resultNode(frame);
    $("result").replaceChildren.apply($("result"), result ? [result] : []);
    var slider = $("slider");
    slider.max = frames.length - 1;
    slider.value = step;
    slider.setAttribute("aria-valuetext", step + ": " + frame.text[lang]);
    $("count").textContent = step + " / " + (frames.length - 1);
    $("first").disabled = $("back").disabled = step === 0;
    $("last").disabled = $("next").disabled = step === frames.length - 1;
    var list = $("events"), current = list.querySelector("[aria-current]");
    if (current) current.removeAttribute("aria-current");
    var button = list.children[step].firstChild;
    button.setAttribute("aria-current", "step");
    var top = button.parentNode.offsetTop, height = button.parentNode.offsetHeight;
    if (top < list.scrollTop + 30 || top + height > list.scrollTop + list.clientHeight - 30) {
      list.scrollTop = top - list.clientHeight / 2 + height / 2;
    }
    try { history.replaceState(null, "", "#game=" + game + "&step=" + step); } catch (e) { /* not everywhere allowed */ }
  }
  function listEvents() {
    var rows = G().frames.map(function (frame, i) {
      var big = ["win", "draw_game", "end", "start"].indexOf(frame.type) >= 0;
      var row = el("li"), button = el("button");
      button.type = "button";
      button.append(el("span", "n", i), el("span", (frame.type === "pass" ? "pass" : big ? "big" : "") + (frame.faults ? " bad" : ""), frame.text[lang]));
      button.addEventListener("click", function () { stop(); go(i); });
      row.append(button);
      return row;
    });
    $("events").replaceChildren.apply($("events"), rows);
  }
  function go(to) {
    step = Math.max(0, Math.min(G().frames.length - 1, to));
    draw();
  }
  function choose(to) {
    stop();
    game = Math.max(0, Math.min(data.games.length - 1, to));
    step = 0;
    relabel();
  }
  function stop() {
    if (timer !== null) clearInterval(timer);
    timer = null;
    showPlay();
  }
  function showPlay() {
    $("playicon").setAttribute("d", timer === null ? "M6 3l13 9-13 9z" : "M5 3h5v18H5zM14 3h5v18h-5z");
    $("play").title = ui(timer === null ? "play" : "pause");
    $("play").setAttribute("aria-label", $("play").title);
  }
  function tick() {
    if (step >= G().frames.length - 1) stop();
    else go(step + 1);
  }
  function play() {
    if (timer !== null) { stop(); return; }
    if (step >= G().frames.length - 1) go(0);
    timer = setInterval(tick, 1200 / Number($("speed").value));
    showPlay();
  }
  function relabel() {
    document.documentElement.lang = lang === "zh" ? "zh-CN" : "en";
    document.title = ui("title") + " · " + G().name[lang];
    $("title").textContent = ui("title");
    $("about").textContent = G().about[lang];
    $("eventsname").textContent = ui("events");
    $("lang").textContent = ui("lang");
    $("lang").lang = lang === "zh" ? "en" : "zh-CN";
    ["first", "back", "next", "last"].forEach(function (id) { $(id).title = ui(id); $(id).setAttribute("aria-label", ui(id)); });
    $("slider").setAttribute("aria-label", ui("slider"));
    $("speed").setAttribute("aria-label", ui("speed"));
    $("speed").title = ui("speed");
    $("game").setAttribute("aria-label", ui("game"));
    $("game").replaceChildren.apply($("game"), data.games.map(function (g, i) {
      var option = el("option", "", g.name[lang]);
      option.value = i;
      return option;
    }));
    $("game").value = game;
    $("game").hidden = data.games.length < 2;
    var keys = ui("keys"), marks = [["←", "→"], ["Home", "End"], [ui("space")], ["[", "]"]], bar = [];
    marks.forEach(function (pair, i) {
      if (i === 3 && data.games.length < 2) return;
      pair.forEach(function (mark) { bar.push(el("kbd", "", mark), document.createTextNode(" ")); });
      bar.push(document.createTextNode(keys[i] + "\u2003"));
    });
    $("keys").replaceChildren.apply($("keys"), bar);
    listEvents();
    showPlay();
    draw();
  }
  [["first", function () { stop(); go(0); }], ["back", function () { stop(); go(step - 1); }], ["play", play],
    ["next", function () { stop(); go(step + 1); }], ["last", function () { stop(); go(G().frames.length - 1); }],
    ["wall", function () { peeking = !peeking; draw(); }],
    ["lang", function () { lang = lang === "zh" ? "en" : "zh"; relabel(); }]
  ].forEach(function (pair) {
    $(pair[0]).addEventListener("click", pair[1]);
  });
  $("slider").addEventListener("input", function () { stop(); go(Number($("slider").value)); });
  $("game").addEventListener("change", function () { choose(Number($("game").value)); });
  $("speed").addEventListener("change", function () { if (timer !== null) { stop(); play(); } });
  document.addEventListener("keydown", function (event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    var tag = event.target.tagName;
    if (tag === "SELECT") return;
    var moves = { ArrowLeft: step - 1, ArrowRight: step + 1, Home: 0, End: G().frames.length - 1 };
    if (event.key in moves) {
      event.preventDefault();
      stop();
      go(moves[event.key]);
    } else if (event.key === " " && !(tag === "BUTTON" && event.target.matches(":focus-visible"))) {
      event.preventDefault();
      if (!event.repeat) play();
    } else if (event.key === "[" || event.key === "]") {
      choose(game + (event.key === "]" ? 1 : -1));
    }
  });
  document.addEventListener("keyup", function (event) {
    // a button that was clicked keeps the focus; the space key still means play
    if (event.key === " " && event.target.tagName === "BUTTON" && !event.target.matches(":focus-visible")) event.preventDefault();
  });
  function fromHash() {
    var hash = new URLSearchParams(location.hash.slice(1));
    game = Math.max(0, Math.min(data.games.length - 1, parseInt(hash.get("game"), 10) || 0));
    step = Math.max(0, Math.min(G().frames.length - 1, parseInt(hash.get("step"), 10) || 0));
  }
  window.addEventListener("hashchange", function () { stop(); fromHash(); relabel(); });
  fromHash();
  relabel();
})();
