// An editor without a browser, based on the control endpoints of the document server simulator
// (crates/document-server-simulator). A real document server has no such endpoints, so only this module calls them.
import { Api, assert, assertEqual } from './api.mjs';

const PERMISSIONS = ['edit', 'review', 'comment', 'fillForms'];

/** Returns the path of a document or of one of its sub-resources. */
export const documentPath = (id, rest = '') => `/workrooms/documents/${id}${rest}`;

/** Returns the claims of a token without verifying it: only the document server and the service know the secret. */
export function decodeToken(token) {
  const parts = token.split('.');
  assertEqual(parts.length, 3, 'the parts of a token');
  const [header, payload] = parts
    .slice(0, 2)
    .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString('utf8')));
  assertEqual(header.alg, 'HS256', 'the algorithm of a token');
  return payload;
}

/** Fetches the editor configuration as this user, and checks it against docs/api-contract.md#editor-configuration. */
export async function getEditorConfig(user, documentId, mode) {
  const response = (await user.api.get(documentPath(documentId, '/editor-config'))).expect(200);
  const { editor, documentServerUrl, token, ...config } = response.body;
  assertEqual(editor, 'onlyoffice', 'the editor', response);
  assert(typeof documentServerUrl === 'string', 'documentServerUrl is the address for browsers', response);
  assertEqual(response.headers.get('cache-control'), 'no-store', 'Cache-Control of a configuration', response);
  const { exp, iat, ...signed } = decodeToken(token);
  assertEqual(signed, config, 'the signed claims are the configuration', response);
  const seconds = exp - Date.now() / 1000;
  assert(seconds > 0 && seconds <= 600, `the token lives ${seconds} seconds`, response);
  assert(/^[0-9A-Za-z._=-]{1,128}$/.test(config.document.key), 'the shape of the key', response);
  assertEqual(config.editorConfig.mode, mode, 'the mode', response);
  assertEqual(config.editorConfig.user.id, user.user.id, 'the user of the editor', response);
  const permissions = Object.fromEntries(PERMISSIONS.map((name) => [name, config.document.permissions[name]]));
  if (mode === 'edit') {
    assertEqual(permissions.edit, true, 'the permission to edit', response);
    assert(
      config.editorConfig.callbackUrl.endsWith(`/api/workrooms/documents/${documentId}/callback`),
      'callbackUrl',
      response,
    );
  } else {
    assertEqual(permissions, Object.fromEntries(PERMISSIONS.map((name) => [name, false])), 'the permissions of a viewer', response);
    assert(!('callbackUrl' in config.editorConfig), 'view mode has no callbackUrl', response);
  }
  return response.body;
}

/** Returns a client of the simulator's control endpoints. */
const controlApi = (documentServerUrl) => new Api(`${documentServerUrl.replace(/\/$/, '')}/practice`, 'an editor page');

/** Injects faults into the document server simulator, such as `ignoresDrop`, while `run` is executed. */
export async function withFaults(documentServerUrl, faults, run) {
  (await controlApi(documentServerUrl).post('/faults', faults)).expect(200);
  try {
    return await run();
  } finally {
    (await controlApi(documentServerUrl).delete('/faults')).expect(204);
  }
}

/** Returns all callbacks that the simulator sent for a document. */
export async function listCallbacks(documentServerUrl, documentId) {
  const all = (await controlApi(documentServerUrl).get('/callbacks')).expect(200).body;
  return all.filter(({ key }) => key.includes(documentId));
}

export class Editor {
  static async open(documentServerUrl, config) {
    const editor = new Editor();
    editor.control = controlApi(documentServerUrl);
    const response = (await editor.control.post('/open', config)).expect(200);
    editor.opened = response.body;
    editor.connection = response.body.connection;
    return editor;
  }

  async type(text) {
    (await this.control.post('/type', { connection: this.connection, text })).expect(200);
  }

  /** Returns the present text of this editor. */
  async text() {
    const response = (await this.control.get(`/text?connection=${this.connection}`)).expect(200);
    return response.body.lines.join('\n');
  }

  /** Closes the editor, waits for the callback, and returns its status and whether the service accepted it. */
  async close() {
    return (await this.control.post('/close', { connection: this.connection })).expect(200).body;
  }
}
