#!/usr/bin/env python3
# pool.py FOLDER CERTIFICATE KEY: a stand-in for a session pool of Azure Container Apps, the token endpoint of Entra ID and those of
# managed identities, as their published documentation has them.
#
#   FOLDER/ports     two lines once it listens: of HTTPS, and of plain HTTP
#   FOLDER/requests  gets a line of JSON for each request
#   FOLDER/script    JSON: {"METHOD START-OF-PATH": [REPLY, ...]}, one after the other, the last one stays, the longest start counts;
#                    what is not named is answered as the real thing would. REPLY: {"status", "headers", "body", "repeat", "cut", "hang", "endless", "honest"}
#   FOLDER/data      the files of the one session; what runs sees them at /mnt/data (bubblewrap)
import json, os, re, shutil, ssl, subprocess, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

folder, certificate, key = sys.argv[1:4]
data = os.path.join(folder, "data")
os.makedirs(data, exist_ok=True)
lock = threading.Lock()
used = {}
TOKEN = "eyJ-token-%d-of-the-scripted-pool"
VERSION = "2025-10-02-preview"


def run(code, seconds):
    inside = ["bwrap", "--ro-bind", "/", "/", "--tmpfs", "/tmp", "--tmpfs", "/mnt", "--bind", data, "/mnt/data"]
    inside += ["--dev", "/dev", "--proc", "/proc", "--die-with-parent", "--chdir", "/mnt/data", sys.executable, "-c", code]
    return subprocess.run(inside, capture_output=True, timeout=seconds, text=True)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *words):
        pass

    def reply(self, status, body=b"", headers=None):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def error(self, status, code, message):
        self.reply(status, {"error": {"code": code, "message": message}})

    def serve(self):
        self.close_connection = True
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        start = f"{self.command} {self.path}"
        with lock:
            with open(os.path.join(folder, "requests"), "a") as log:
                head = {name.lower(): value for name, value in self.headers.items()}
                text = body[:65536].decode("utf-8", "replace")
                log.write(json.dumps({"start": start, "head": head, "bytes": len(body), "body": text}) + "\n")
            try:
                with open(os.path.join(folder, "script")) as file:
                    script = json.load(file) or {}
            except FileNotFoundError:
                script = {}
            said = None
            for name, replies in sorted(script.items(), key=lambda rule: -len(rule[0])):
                if start.startswith(name):
                    said = replies[min(used.get(name, 0), len(replies) - 1)]
                    used[name] = used.get(name, 0) + 1
                    break
        if said is None or said.get("honest"):
            return self.honest(urlsplit(self.path), body)
        if said.get("hang"):
            return time.sleep(600)
        text = said.get("body", "")
        text = (text if isinstance(text, str) else json.dumps(text)).encode() * said.get("repeat", 1)
        self.send_response(said.get("status", 200))
        for name, value in said.get("headers", {}).items():
            self.send_header(name, value)
        if not said.get("endless"):
            self.send_header("Content-Length", str(len(text) + (100 if said.get("cut") else 0)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_DELETE = serve

    def token(self):
        with lock:
            used["token"] = used.get("token", 0) + 1
            return self.reply(200, {"token_type": "Bearer", "expires_in": 3599, "access_token": TOKEN % used["token"]})

    def honest(self, url, body):
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        if url.path.endswith("/oauth2/v2.0/token"):
            form = {name: values[0] for name, values in parse_qs(body.decode()).items()}
            wanted = {"grant_type": "client_credentials", "client_id": "app", "client_secret": "s3cret/of+the&app",
                      "scope": "https://dynamicsessions.io/.default"}
            if form != wanted:
                return self.reply(401, {"error": "invalid_client", "error_description": f"no such client: {body.decode()}"})
            return self.token()
        if url.path in ("/metadata/identity/oauth2/token", "/msi/token"):
            known = self.headers.get("Metadata") == "true" or self.headers.get("X-IDENTITY-HEADER") == "the-header-of-identity"
            if not known or query.get("resource") != "https://dynamicsessions.io":
                return self.reply(400, {"error": "bad_request", "error_description": "Required metadata header not specified"})
            return self.token()
        if not re.fullmatch("Bearer eyJ-token-[0-9]+-of-the-scripted-pool", self.headers.get("Authorization") or ""):
            return self.error(401, "Unauthorized", "no token")
        if query.get("api-version") != VERSION or not 4 <= len(query.get("identifier", "")) <= 128:
            return self.error(400, "BadRequest", "api-version or identifier")
        place = url.path.removeprefix("/pool")
        if place == "/executions" and self.command == "POST":
            asked = json.loads(body)
            if not 0 < asked["timeoutInSeconds"] <= 220:
                return self.error(400, "BadRequest", "timeoutInSeconds")
            ended = run(asked["code"], asked["timeoutInSeconds"])
            status = "Succeeded" if ended.returncode == 0 else "Failed"
            cut = asked.get("outputStreamsMaxLength", 4096)
            result = {"stdout": ended.stdout[:cut], "stderr": ended.stderr[:cut], "executionResult": "", "executionTimeInMilliseconds": 4}
            return self.reply(202, {"id": "1", "identifier": query["identifier"], "executionType": "Synchronous", "status": status, "result": result})
        if place == "/session" and self.command == "DELETE":
            shutil.rmtree(data)
            os.makedirs(data)
            return self.reply(204)
        if place == "/files" and self.command == "POST":
            boundary = re.fullmatch("multipart/form-data; boundary=(.+)", self.headers["Content-Type"])[1]
            head, content = body.split(b"\r\n\r\n", 1)
            name = re.search('name="file"; filename="([^"]+)"', head.decode())[1]
            content = content[: content.rindex(f"\r\n--{boundary}--".encode())]
            with open(os.path.join(data, name), "wb") as file:
                file.write(content)
            return self.reply(200, {"name": name, "type": "File", "sizeInBytes": len(content)})
        if place == "/files":
            rows = [{"name": one.name, "type": "Directory" if one.is_dir() else "File", "sizeInBytes": one.stat().st_size,
                     "lastModifiedAt": "2026-01-01T00:00:00Z"} for one in sorted(os.scandir(data), key=lambda one: one.name)]
            return self.reply(200, {"value": rows, "nextLink": None})
        named = re.fullmatch("/files/([^/]+)/content", place)
        path = os.path.join(data, unquote(named[1])) if named else ""
        if not named or not os.path.isfile(path):
            return self.error(404, "FileNotFound", "The file does not exist")
        with open(path, "rb") as file:
            return self.reply(200, file.read(), {"Content-Type": "application/octet-stream"})


class Server(ThreadingHTTPServer):
    daemon_threads = True

    # In the thread of the connection: one that does not shake hands holds up nobody else.
    def finish_request(self, request, address):
        if self.tls:
            request = self.tls.wrap_socket(request, server_side=True)
        Handler(request, address, self)
        if self.tls:
            request.close()

    def handle_error(self, request, address):
        pass


secure, plain = Server(("127.0.0.1", 0), None), Server(("127.0.0.1", 0), None)
secure.tls, plain.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), None
secure.tls.load_cert_chain(certificate, key)
threading.Thread(target=plain.serve_forever, daemon=True).start()
with open(os.path.join(folder, "ports.new"), "w") as file:
    file.write(f"{secure.server_port}\n{plain.server_port}\n")
os.rename(os.path.join(folder, "ports.new"), os.path.join(folder, "ports"))
secure.serve_forever()
