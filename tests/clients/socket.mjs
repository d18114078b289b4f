// A user's connection with the official Socket.IO client. It stores all received events in order.
import { io } from 'socket.io-client';
import { Failure, must } from './api.mjs';

// Long enough for a sent event to arrive on a busy machine. The absence of an event is always checked after another socket has
// received it.
const SILENCE = 500;

export class Ear {
  heard = [];

  /** Connects with the user's cookies and waits for `ready`, which follows joining the rooms. */
  static async open(person) {
    const ear = new Ear();
    ear.who = person.who;
    ear.socket = io(person.baseUrl, {
      path: '/api/socket.io',
      extraHeaders: { cookie: person.jar.header, origin: person.origin },
      forceNew: true,
      reconnection: false,
      ...(person.transports ? { transports: person.transports } : {}),
    });
    ear.socket.onAny((event, payload) => ear.heard.push({ event, payload }));
    ear.socket.on('disconnect', (reason) => ear.heard.push({ event: 'disconnect', payload: { reason } }));
    ear.socket.on('connect_error', (error) => {
      const status = error.context?.status ?? error.description ?? '';
      ear.heard.push({ event: 'connect_error', payload: { message: error.message, status } });
    });
    await ear.hears('ready');
    return ear;
  }

  /** A position in the received events, from which `hears` and `silent` can start instead of the beginning. */
  get now() {
    return this.heard.length;
  }

  /** Waits for the first such event since `from` and returns its payload. */
  async hears(event, { where = () => true, from = 0, within = 10_000 } = {}) {
    const end = Date.now() + within;
    for (;;) {
      const found = this.heard.slice(from).find((entry) => entry.event === event && where(entry.payload ?? {}));
      if (found) {
        if (event.includes(':') && event !== 'sync:required') this.#wellFormed(found);
        return found.payload;
      }
      if (Date.now() > end)
        throw new Failure(`${this.who} did not hear ${event} within ${within} ms; ${this.#account(from)}`);
      await new Promise((done) => setTimeout(done, 20));
    }
  }

  /** Requires that no such event has arrived since `from` or arrives within a short wait. */
  async silent(event, { where = () => true, from = 0 } = {}) {
    await new Promise((done) => setTimeout(done, SILENCE));
    const found = this.heard.slice(from).find((entry) => entry.event === event && where(entry.payload ?? {}));
    must(!found, `${this.who} must not hear ${event}, but heard ${JSON.stringify(found)}`);
  }

  /** Requires that no received event contains one of these texts (ids, texts of other users). */
  neverHeard(...texts) {
    for (const entry of this.heard) {
      const said = JSON.stringify(entry);
      for (const text of texts) must(!said.includes(text), `${this.who} heard of ${JSON.stringify(text)}: ${said}`);
    }
  }

  /** Requires that only these events were received. */
  only(...events) {
    const other = this.heard.find((entry) => !events.includes(entry.event));
    must(!other, `${this.who} must hear nothing but ${events.join(', ')}, but heard ${JSON.stringify(other)}`);
  }

  close() {
    this.socket.disconnect();
  }

  #wellFormed({ event, payload }) {
    if (event === 'session:revoked') return;
    for (const field of ['eventId', 'at', 'organizationId']) {
      must(typeof payload?.[field] === 'string', `${event} lacks ${field}: ${JSON.stringify(payload)}`);
    }
    must('classId' in payload && 'actor' in payload, `${event} lacks classId or actor: ${JSON.stringify(payload)}`);
  }

  #account(from) {
    const lines = this.heard
      .slice(from)
      .map(({ event, payload }) => `${event} ${JSON.stringify(payload)?.slice(0, 160)}`);
    return lines.length ? `it heard:\n    ${lines.join('\n    ')}` : 'it heard nothing';
  }
}
