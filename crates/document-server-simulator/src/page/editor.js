// The editor page: shows the lines of a document in a text area, sends local changes and shows those of other users. It
// communicates with the host page through messages and with the simulator through /practice.

import { applied, difference, isNothing, moved, movedCaret, position } from './lines.js';
import { wordsFor } from './words.js';

const element = (id) => document.getElementById(id);
const text = element('text');
let words = wordsFor('en');
// Origin of the host page; known from its first message.
let hostOrigin = '*';
let session = null;
// Number of failed reconnects after which the editor gives up.
const RECONNECTIONS = 3;

function host(name, data) {
  window.parent.postMessage({ practice: 'event', name, data }, hostOrigin);
}

function say(state) {
  if (element('state').textContent !== state) {
    element('state').textContent = state;
  }
}

function notice(message) {
  element('notice').textContent = message;
}

async function ask(what, body) {
  const text = JSON.stringify(body);
  const answer = await fetch(`../${what}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: text,
    // Completes small requests while the page is unloaded; browsers reject this for large ones.
    keepalive: text.length < 30000,
  });
  const content = answer.status === 204 ? null : await answer.json();
  if (!answer.ok) {
    throw Object.assign(new Error(content.message), { code: content.code });
  }
  return content;
}

function present(language) {
  words = wordsFor(language);
  document.documentElement.lang = words.language;
  element('practice').textContent = words.practice;
  element('save').textContent = words.save;
  element('close').textContent = words.close;
  text.setAttribute('aria-label', words.text);
}

async function open({ config, listening }) {
  goodbye();
  const editor = config.editorConfig || {};
  const custom = editor.customization || {};
  present(editor.lang);
  notice('');
  say(words.opening);
  host('onAppReady');
  const mine = { closed: false, listening };
  session = mine;
  let opened;
  try {
    opened = await ask('open', config);
  } catch (error) {
    notice(error.message);
    say('');
    host('onError', { errorCode: error.code ?? -1, errorDescription: error.message });
    return;
  }
  mine.connection = opened.connection;
  if (session !== mine || mine.closed) {
    navigator.sendBeacon('../close', beacon(mine));
    return;
  }
  Object.assign(mine, {
    lines: opened.lines.length ? opened.lines : [''],
    revision: opened.revision,
    // The phone editor of the free edition is read-only.
    edit: opened.mode === 'edit' && config.type !== 'mobile',
    unsent: false,
    sending: false,
    gap: opened.autosaveGap,
  });
  text.value = mine.lines.join('\n');
  element('title').textContent = opened.title;
  element('save').hidden = !(mine.edit && custom.forcesave);
  element('close').hidden = !listening.includes('onRequestClose');
  setWritable(mine.edit);
  if (opened.warnings.includes(-201)) {
    notice(words.forgotten);
    host('onWarning', { warningCode: -201, warningDescription: words.forgotten });
  }
  host('onInfo', { mode: mine.edit ? 'edit' : 'view' });
  host('onDocumentReady');
  if (opened.updateVersion) {
    outdated(mine);
  }
  listen(mine);
}

function setWritable(writable) {
  text.readOnly = !writable;
  if (!writable) {
    element('save').hidden = true;
  }
  say(writable ? words.kept : words.reading);
}

function listen(mine) {
  const events = new EventSource(`../events?connection=${mine.connection}`);
  let failures = 0;
  mine.events = events;
  events.onmessage = (event) => {
    failures = 0;
    receive(mine, JSON.parse(event.data));
  };
  events.addEventListener('gone', () => ended(mine));
  events.onerror = () => {
    if (events.readyState === EventSource.CLOSED) {
      ended(mine);
    } else {
      failures += 1;
      say(words.lost);
      if (failures === RECONNECTIONS) {
        giveUp(mine);
      }
    }
  };
}

// Like a document server's editor: becomes read-only, reports the error to the host page, and must be opened again.
function giveUp(mine) {
  if (session === mine && !mine.closed) {
    mine.events.close();
    deny(mine, words.stopped);
    host('onWarning', { warningCode: -18, warningDescription: words.stopped });
  }
}

// The lines of the server replace the known ones; local changes that were not sent are applied on top of them.
function receive(mine, view) {
  if (session !== mine || mine.closed) {
    return;
  }
  if (view.title !== element('title').textContent) {
    element('title').textContent = view.title;
    host('onMetaChange', { title: view.title });
  }
  element('people').textContent = view.people.length > 1 ? words.here + view.people.join(', ') : words.alone;
  if (view.dropped && mine.edit) {
    deny(mine, view.dropped);
  }
  if (mine.sending) {
    // These lines may or may not include the change in flight, so they are merged after its response.
    mine.missed = view;
  } else if (view.revision >= mine.revision) {
    merge(mine, view);
  }
  if (view.outdated && mine.edit) {
    outdated(mine);
  } else if (mine.edit && !mine.unsent) {
    say(words.kept);
  }
}

function merge(mine, { revision, lines }) {
  // A document without paragraphs shows one empty line, like a text area.
  const now = lines.length ? lines : [''];
  mine.revision = revision;
  const theirs = difference(mine.lines, now);
  if (isNothing(theirs)) {
    return;
  }
  const ours = difference(mine.lines, text.value.split('\n'));
  const shown = isNothing(ours) ? now : applied(now, moved(ours, theirs));
  mine.lines = now;
  const next = shown.join('\n');
  if (text.value === next) {
    return;
  }
  const start = movedCaret(text.value, text.selectionStart, theirs);
  const end = movedCaret(text.value, text.selectionEnd, theirs);
  const scroll = text.scrollTop;
  text.value = next;
  text.setSelectionRange(position(shown, start), position(shown, end));
  text.scrollTop = scroll;
}

function typed() {
  const mine = session;
  if (!mine || !mine.edit) {
    return;
  }
  if (!mine.unsent) {
    mine.unsent = true;
    say(words.sending);
    host('onDocumentStateChange', true);
  }
  schedule(mine, mine.gap ?? 250);
}

// Not debounced, so other users see the text grow.
function schedule(mine, milliseconds) {
  mine.timer ??= setTimeout(() => {
    mine.timer = null;
    send(mine);
  }, milliseconds);
}

async function send(mine) {
  if (mine.sending || mine.closed || !mine.edit) {
    return;
  }
  const sent = text.value.split('\n');
  const change = difference(mine.lines, sent);
  if (isNothing(change)) {
    settled(mine);
    return;
  }
  mine.sending = true;
  let pause = mine.gap ?? 250;
  try {
    const answer = await ask('edit', { connection: mine.connection, revision: mine.revision, ...change });
    // Our own change is now known to the server; only the changes of others are new.
    mine.lines = sent;
    merge(mine, answer);
  } catch (error) {
    if (error.code === undefined) {
      say(words.lost);
      pause = 1000;
    } else {
      deny(mine, error.message);
    }
  } finally {
    mine.sending = false;
  }
  if (mine.closed) {
    return;
  }
  if (mine.missed) {
    receive(mine, mine.missed);
    mine.missed = null;
  }
  if (mine.edit && !isNothing(difference(mine.lines, text.value.split('\n')))) {
    schedule(mine, pause);
  } else {
    settled(mine);
  }
}

function settled(mine) {
  if (mine.unsent && mine.edit) {
    mine.unsent = false;
    say(words.kept);
    host('onDocumentStateChange', false);
  }
}

function deny(mine, message) {
  mine.edit = false;
  setWritable(false);
  notice(message || words.reading);
}

function outdated(mine) {
  deny(mine, words.outdated);
  host(mine.listening.includes('onRequestRefreshFile') ? 'onRequestRefreshFile' : 'onOutdatedVersion');
}

function ended(mine) {
  if (session === mine && !mine.closed) {
    mine.events.close();
    // After a drop the server closes the connection; its message is already shown.
    if (mine.edit) {
      outdated(mine);
    }
  }
}

async function pressSave() {
  const mine = session;
  await send(mine);
  say(words.saving);
  try {
    const { error } = await ask('forcesave-button', { connection: mine.connection });
    say(error === 4 ? words.nothing : words.kept);
  } catch (error) {
    notice(error.message);
  }
}

async function requestClose() {
  if (session && session.connection && session.edit) {
    await send(session);
  }
  host('onRequestClose');
}

function beacon(mine, edit) {
  const body = JSON.stringify({ connection: mine.connection, wait: false, edit });
  return new Blob([body], { type: 'application/json' });
}

// Runs on `pagehide` too: the latest change is sent with the close request.
function goodbye() {
  const mine = session;
  if (!mine || mine.closed || !mine.connection) {
    if (mine) {
      mine.closed = true;
    }
    return;
  }
  mine.closed = true;
  clearTimeout(mine.timer);
  if (mine.events) {
    mine.events.close();
  }
  const change = mine.edit ? difference(mine.lines, text.value.split('\n')) : { removed: 0, lines: [] };
  // With an autosave gap, unsent text is lost with the frame, as in a real editor.
  const edit = mine.gap || isNothing(change) || mine.sending ? undefined : { revision: mine.revision, ...change };
  navigator.sendBeacon('../close', beacon(mine, edit));
}

window.addEventListener('message', (event) => {
  if (event.source !== window.parent || !event.data || typeof event.data.practice !== 'string') {
    return;
  }
  hostOrigin = event.origin;
  switch (event.data.practice) {
    case 'open':
    case 'refresh':
      open(event.data);
      break;
    case 'deny':
      if (session) {
        deny(session, event.data.message);
      }
      break;
    case 'request-close':
      requestClose();
      break;
    case 'message':
      notice(event.data.message);
      break;
    default:
  }
});

text.addEventListener('input', typed);
element('save').addEventListener('click', pressSave);
element('close').addEventListener('click', requestClose);
document.addEventListener('keydown', (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === 's') {
    event.preventDefault();
    if (!element('save').hidden) {
      pressSave();
    }
  }
});
window.addEventListener('pagehide', goodbye);
present('en');
window.parent.postMessage({ practice: 'hello' }, hostOrigin);
