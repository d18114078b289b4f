// Defines DocsAPI.DocEditor for host pages, like the script of a document server. The editor runs in a frame on the
// simulator's origin; this script only passes configuration, events and calls between the two.
(() => {
  'use strict';
  const script = new URL(document.currentScript.src);
  const page = new URL('../../../../practice/page/editor.html', script);
  const events = ['onAppReady', 'onDocumentReady', 'onDocumentStateChange', 'onError', 'onWarning', 'onInfo',
    'onRequestClose', 'onRequestRefreshFile', 'onOutdatedVersion', 'onMetaChange', 'onCollaborativeChanges'];

  // Functions cannot be posted to a frame, so only the names of the events are sent.
  function sendable(config) {
    const handlers = (config && config.events) || {};
    const plain = JSON.parse(JSON.stringify({ ...config, events: undefined }));
    return { config: plain, listening: events.filter((name) => typeof handlers[name] === 'function') };
  }

  function DocEditor(placeholderId, config) {
    const placeholder = document.getElementById(placeholderId);
    if (!placeholder) {
      throw new Error(`There is no element with the id ${placeholderId}.`);
    }
    const handlers = (config && config.events) || {};
    const frame = document.createElement('iframe');
    frame.id = placeholderId;
    frame.name = 'frameEditor';
    frame.title = 'Document editor (practice)';
    frame.width = (config && config.width) || '100%';
    frame.height = (config && config.height) || '100%';
    // Set through the object model, which a style policy of the host page allows.
    frame.style.border = '0';
    frame.src = page.href;
    const editor = {};
    let ready = false;
    const waiting = [];

    function tell(message) {
      if (ready) {
        frame.contentWindow.postMessage(message, page.origin);
      } else {
        waiting.push(message);
      }
    }

    function listen(event) {
      if (event.source !== frame.contentWindow || event.origin !== page.origin || !event.data) {
        return;
      }
      if (event.data.practice === 'hello') {
        ready = true;
        tell({ practice: 'open', ...sendable(config) });
        waiting.splice(0).forEach(tell);
      } else if (event.data.practice === 'event') {
        const handler = handlers[event.data.name];
        if (typeof handler === 'function') {
          handler.call(editor, { data: event.data.data, target: editor });
        }
      }
    }

    window.addEventListener('message', listen);
    placeholder.replaceWith(frame);

    editor.denyEditingRights = (message) => tell({ practice: 'deny', message: message || '' });
    editor.refreshFile = (next) => tell({ practice: 'refresh', ...sendable({ ...next, events: handlers }) });
    editor.requestClose = () => tell({ practice: 'request-close' });
    editor.showMessage = (message) => tell({ practice: 'message', message });
    editor.destroyEditor = () => {
      if (!frame.isConnected) {
        return;
      }
      window.removeEventListener('message', listen);
      const empty = document.createElement('div');
      empty.id = placeholderId;
      // Removing the frame closes the editor: the page sends its close request on `pagehide`.
      frame.replaceWith(empty);
    };
    // Methods of a real editor that have no effect here.
    for (const name of ['refreshHistory', 'setHistoryData', 'setActionLink', 'setUsers', 'setReferenceData',
      'downloadAs', 'processMouse', 'blurFocus', 'grabFocus']) {
      editor[name] = () => {};
    }
    return editor;
  }

  DocEditor.version = () => '9.3.1';
  DocEditor.defaultConfig = {};
  window.DocsAPI = window.DocsAPI || {};
  window.DocsAPI.DocEditor = DocEditor;
})();
