// An editor without a browser: the control endpoints of the document server simulator (its control_api.rs lists them).
// A real document server does not have them, so no other file calls them.
import { Api, must, same } from './api.mjs';

const PERMISSIONS = ['edit', 'review', 'comment', 'fillForms'];

/** Returns the path of a document, or of a part of it. */
export const document = (id, rest = '') => `/workrooms/documents/${id}${rest}`;

/** Returns the claims of a token without verifying it: only the document server and the service know the secret. */
export function claims(token) {
  const parts = token.split('.');
  same(parts.length, 3, 'the parts of a token');
  const [header, payload] = parts
    .slice(0, 2)
    .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString('utf8')));
  same(header.alg, 'HS256', 'the algorithm of a token');
  return payload;
}

/** Fetches the editor configuration as this user and checks it against contract and protocol. */
export async function configuration(person, documentId, mode) {
  const answer = (await person.api.get(document(documentId, '/editor-config'))).is(200);
  const { documentServerUrl, token, ...config } = answer.body;
  must(typeof documentServerUrl === 'string', 'documentServerUrl is the address for browsers', answer);
  same(answer.headers.get('cache-control'), 'no-store', 'Cache-Control of a configuration', answer);
  const { exp, iat, ...signed } = claims(token);
  same(signed, config, 'the signed claims are the configuration', answer);
  const seconds = exp - Date.now() / 1000;
  must(seconds > 0 && seconds <= 600, `the token lives ${seconds} seconds`, answer);
  must(/^[0-9A-Za-z._=-]{1,128}$/.test(config.document.key), 'the shape of the key', answer);
  same(config.editorConfig.mode, mode, 'the mode', answer);
  same(config.editorConfig.user.id, person.user.id, 'whose editor it is', answer);
  const given = Object.fromEntries(PERMISSIONS.map((name) => [name, config.document.permissions[name]]));
  if (mode === 'edit') {
    same(given.edit, true, 'the permission to edit', answer);
    must(
      config.editorConfig.callbackUrl.endsWith(`/api/workrooms/documents/${documentId}/callback`),
      'callbackUrl',
      answer,
    );
  } else {
    same(given, Object.fromEntries(PERMISSIONS.map((name) => [name, false])), 'the permissions of a viewer', answer);
    must(!('callbackUrl' in config.editorConfig), 'a viewer brings no callbackUrl', answer);
  }
  return answer.body;
}

/** The control endpoints for editors and faults of the document server simulator. */
const doors = (documentServerUrl) => new Api(`${documentServerUrl.replace(/\/$/, '')}/practice`, 'an editor page');

/** Sets faults of the document server simulator, such as `ignoresDrop`, while `act` runs. */
export async function misbehaving(documentServerUrl, faults, act) {
  (await doors(documentServerUrl).post('/faults', faults)).is(200);
  try {
    return await act();
  } finally {
    (await doors(documentServerUrl).delete('/faults')).is(204);
  }
}

/** Returns all callbacks that the document server simulator has sent about the document. */
export async function notices(documentServerUrl, documentId) {
  const all = (await doors(documentServerUrl).get('/callbacks')).is(200).body;
  return all.filter(({ key }) => key.includes(documentId));
}

export class Editor {
  static async open(documentServerUrl, config) {
    const editor = new Editor();
    editor.doors = doors(documentServerUrl);
    const answer = (await editor.doors.post('/open', config)).is(200);
    editor.opened = answer.body;
    editor.connection = answer.body.connection;
    return editor;
  }

  async type(text) {
    (await this.doors.post('/type', { connection: this.connection, text })).is(200);
  }

  /** Returns the text as this editor sees it. */
  async text() {
    const answer = (await this.doors.get(`/text?connection=${this.connection}`)).is(200);
    return answer.body.lines.join('\n');
  }

  /** Closes the editor and waits for the callback; returns its status and whether the service accepted it. */
  async close() {
    return (await this.doors.post('/close', { connection: this.connection })).is(200).body;
  }
}
