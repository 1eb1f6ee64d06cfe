// servers.mjs ADDRESS CERTIFICATE KEY FOLDER: the servers that sandboxes of these tests may reach, until it is
// killed. Says "ready".
//
// 80    HTTP: "METHOD PATH HOST BODY-BYTES", and how many requests the connection has had; /away leads elsewhere;
//       /files/ has those of FOLDER; agrees to a WebSocket, and then echoes bytes as they come
// 443   the same over TLS, in HTTP/2, too
// 7001  echo, byte for byte; ends when the client has
// 7002  resets at the first byte
// 7003  takes what comes and never answers
import crypto from "node:crypto";
import fs from "node:fs";
import http from "node:http";
import http2 from "node:http2";
import net from "node:net";
import path from "node:path";

const [address, certificate, key, folder] = process.argv.slice(2);

function serve(request, response) {
  let bytes = 0;
  const count = (request.socket.requests = (request.socket.requests ?? 0) + 1);
  request.on("data", (data) => (bytes += data.length));
  request.on("end", () => {
    if (request.url.startsWith("/files/")) {
      const file = path.join(folder, path.normalize(request.url.slice(7).split("?")[0]));
      const found = fs.existsSync(file) && fs.statSync(file).isFile();
      return response.writeHead(found ? 200 : 404).end(found ? fs.readFileSync(file) : "");
    }
    if (request.url === "/away") return response.writeHead(302, { Location: "http://elsewhere.test/" }).end();
    const host = request.headers.host ?? request.headers[":authority"];
    response.end(`${request.method} ${request.url} ${host} ${bytes} #${count}`);
  });
}

function agree(request, socket) {
  const key = request.headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";  // RFC 6455
  socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
    `Sec-WebSocket-Accept: ${crypto.createHash("sha1").update(key).digest("base64")}\r\n\r\n`);
  socket.on("error", () => {});
  socket.on("data", (data) => socket.write(data));
  socket.on("end", () => socket.end());
}

const tls = { cert: fs.readFileSync(certificate), key: fs.readFileSync(key) };
const echo = (socket) => socket.on("error", () => {}).pipe(socket);
const reset = (socket) => socket.on("error", () => {}).once("data", () => socket.resetAndDestroy());
const mute = (socket) => socket.on("error", () => {}).resume();
const servers = [
  [80, http.createServer(serve).on("upgrade", agree)],
  [443, http2.createSecureServer({ ...tls, allowHTTP1: true }, serve).on("tlsClientError", () => {})],
  [7001, net.createServer({ allowHalfOpen: true }, echo)],
  [7002, net.createServer(reset)],
  [7003, net.createServer(mute)],
];
let left = servers.length;
for (const [port, server] of servers) server.listen(port, address, 4096, () => --left || console.log("ready"));
