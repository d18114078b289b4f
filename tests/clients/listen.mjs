// An official Socket.IO client for the Rust tests. It prints every event as a JSON line on stdout, emits each JSON line of
// stdin (`["event", ...arguments]`), and exits when stdin closes. The acknowledgement of `document:open` is printed as `ack`.
import { createInterface } from 'node:readline';
import { io } from 'socket.io-client';

const { baseUrl, cookie, origin, transports, reportsUpgrade, since } = JSON.parse(process.argv[2]);
const printEvent = (event, payload) => process.stdout.write(`${JSON.stringify({ event, payload: payload ?? null })}\n`);

const extraHeaders = {};
if (cookie) extraHeaders.cookie = cookie;
if (origin) extraHeaders.origin = origin;
const socket = io(baseUrl, {
  path: '/api/socket.io',
  extraHeaders,
  forceNew: true,
  reconnectionDelay: 50,
  reconnectionDelayMax: 200,
  ...(since ? { auth: { since } } : {}),
  ...(transports ? { transports } : {}),
});
socket.onAny(printEvent);
if (reportsUpgrade) socket.io.engine.once('upgrade', () => printEvent('upgrade'));
socket.on('connect', () => printEvent('connect', { id: socket.id }));
socket.on('disconnect', (reason) => printEvent('disconnect', { reason }));
socket.on('connect_error', (error) => {
  const status = error.context?.status ?? error.description ?? null;
  let body = null;
  try {
    body = JSON.parse(error.context?.responseText ?? error.context?.response ?? 'null');
  } catch {
    // The body is not JSON.
  }
  printEvent('connect_error', { message: error.message, status: typeof status === 'number' ? status : null, body });
});

const input = createInterface({ input: process.stdin });
input.on('line', (line) => {
  const message = JSON.parse(line);
  const acknowledged = message[0] === 'document:open';
  socket.emit(...message, ...(acknowledged ? [(reply) => printEvent('ack', reply)] : []));
});
input.on('close', () => {
  socket.disconnect();
  process.exit(0);
});
