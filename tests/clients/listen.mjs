// An official Socket.IO client for the Rust tests: every event as a JSON line on stdout; each JSON line on stdin,
// ["event", ...arguments], is emitted. It ends when stdin closes.
import { createInterface } from 'node:readline';
import { io } from 'socket.io-client';

const { baseUrl, cookie, origin, transports } = JSON.parse(process.argv[2]);
const tell = (event, payload) => process.stdout.write(`${JSON.stringify({ event, payload: payload ?? null })}\n`);

const extraHeaders = {};
if (cookie) extraHeaders.cookie = cookie;
if (origin) extraHeaders.origin = origin;
const socket = io(baseUrl, {
  path: '/api/socket.io',
  extraHeaders,
  forceNew: true,
  reconnectionDelay: 50,
  reconnectionDelayMax: 200,
  ...(transports ? { transports } : {}),
});
socket.onAny(tell);
socket.on('connect', () => tell('connect', { id: socket.id }));
socket.on('disconnect', (reason) => tell('disconnect', { reason }));
socket.on('connect_error', (error) => {
  const status = error.context?.status ?? error.description ?? null;
  let body = null;
  try {
    body = JSON.parse(error.context?.responseText ?? error.context?.response ?? 'null');
  } catch {
    // Not JSON: the test shows the text.
  }
  tell('connect_error', { message: error.message, status: typeof status === 'number' ? status : null, body });
});

const orders = createInterface({ input: process.stdin });
orders.on('line', (line) => socket.emit(...JSON.parse(line)));
orders.on('close', () => {
  socket.disconnect();
  process.exit(0);
});
