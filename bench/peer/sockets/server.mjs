// The official Socket.IO server as a peer of the service's sockets: the same path and transport, as many rooms per
// socket, the same bytes. It requires no session and reads no database, which the figures mention.
import { createServer } from "node:http";
import { Server } from "socket.io";

const server = createServer(async (request, response) => {
  if (request.method !== "POST" || request.url !== "/emit") {
    response.writeHead(404).end();
    return;
  }
  const parts = [];
  for await (const part of request) parts.push(part);
  const { room, event, payload } = JSON.parse(Buffer.concat(parts).toString());
  io.to(room).emit(event, payload);
  response.writeHead(204).end();
});

const io = new Server(server, {
  path: "/api/socket.io",
  transports: ["websocket"],
  serveClient: false,
  maxHttpBufferSize: 65536,
});

io.on("connection", (socket) => {
  const { user, session, organization, rooms } = socket.handshake.query;
  socket.join([`user:${user}`, `session:${session}`, `user:${user}@${organization}`, ...rooms.split(",")]);
  socket.emit("ready", { organizationId: organization });
});

process.on("SIGTERM", () => process.exit(0));

server.listen(0, "127.0.0.1", () => {
  console.log(JSON.stringify({ base: `http://127.0.0.1:${server.address().port}` }));
});
