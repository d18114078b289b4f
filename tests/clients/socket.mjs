// A user's connection with the official Socket.IO client. All received events are stored in order.
import { io } from 'socket.io-client';
import { CheckError, WAIT_MILLISECONDS, assert } from './api.mjs';

// Long enough for an event to arrive on a busy machine. The absence of an event is always checked after another listener
// received it.
const QUIET_MILLISECONDS = 500;

export class SocketListener {
  received = [];

  /**
   * Connects with the user's cookies and waits for `ready`, which means that the rooms are joined, and for the WebSocket:
   * a session that ends between two polls ends the connection with 401 instead of `session:revoked`.
   */
  static async open(user) {
    const listener = new SocketListener();
    listener.label = user.label;
    listener.socket = io(user.baseUrl, {
      path: '/api/socket.io',
      extraHeaders: { cookie: user.jar.header, origin: user.origin },
      forceNew: true,
      reconnection: false,
      ...(user.transports ? { transports: user.transports } : {}),
    });
    const upgraded =
      user.transports === undefined ? new Promise((done) => listener.socket.io.engine.once('upgrade', done)) : undefined;
    listener.socket.onAny((event, payload) => listener.received.push({ event, payload }));
    listener.socket.on('disconnect', (reason) => listener.received.push({ event: 'disconnect', payload: { reason } }));
    listener.socket.on('connect_error', (error) => {
      const status = error.context?.status ?? error.description ?? '';
      listener.received.push({ event: 'connect_error', payload: { message: error.message, status } });
    });
    await listener.waitFor('ready');
    await upgraded;
    return listener;
  }

  /** The number of received events, for the option `from` of `waitFor` and `expectNone`. */
  get position() {
    return this.received.length;
  }

  /** Waits for the first matching event since `from` and returns its payload. */
  async waitFor(event, { where = () => true, from = 0, within = WAIT_MILLISECONDS } = {}) {
    const end = Date.now() + within;
    for (;;) {
      const found = this.received.slice(from).find((entry) => entry.event === event && where(entry.payload ?? {}));
      if (found) {
        if (event.includes(':') && event !== 'sync:required') this.#checkEnvelope(found);
        return found.payload;
      }
      if (Date.now() > end)
        throw new CheckError(`${this.label} did not receive ${event} within ${within} ms; ${this.#describeReceived(from)}`);
      await new Promise((done) => setTimeout(done, 20));
    }
  }

  /** Requires that no matching event was received since `from` or arrives within a short time. */
  async expectNone(event, { where = () => true, from = 0 } = {}) {
    await new Promise((done) => setTimeout(done, QUIET_MILLISECONDS));
    const found = this.received.slice(from).find((entry) => entry.event === event && where(entry.payload ?? {}));
    assert(!found, `${this.label} must not receive ${event}, but received ${JSON.stringify(found)}`);
  }

  /** Requires that no received event contains one of these texts. */
  expectNeverReceived(...texts) {
    for (const entry of this.received) {
      const shown = JSON.stringify(entry);
      for (const text of texts) assert(!shown.includes(text), `${this.label} received ${JSON.stringify(text)}: ${shown}`);
    }
  }

  /** Requires that only events with these names were received. */
  expectOnly(...events) {
    const other = this.received.find((entry) => !events.includes(entry.event));
    assert(!other, `${this.label} must receive only ${events.join(', ')}, but received ${JSON.stringify(other)}`);
  }

  close() {
    this.socket.disconnect();
  }

  #checkEnvelope({ event, payload }) {
    if (event === 'session:revoked') return;
    for (const field of ['eventId', 'at', 'organizationId']) {
      assert(typeof payload?.[field] === 'string', `${event} lacks ${field}: ${JSON.stringify(payload)}`);
    }
    assert('classId' in payload && 'actor' in payload, `${event} lacks classId or actor: ${JSON.stringify(payload)}`);
  }

  #describeReceived(from) {
    const lines = this.received
      .slice(from)
      .map(({ event, payload }) => `${event} ${JSON.stringify(payload)?.slice(0, 160)}`);
    return lines.length ? `received:\n    ${lines.join('\n    ')}` : 'received nothing';
  }
}
