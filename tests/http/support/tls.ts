// SPDX-License-Identifier: Apache-2.0
// Certificates that a test signs itself, and requests over TLS.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";

export interface Pair { certificate: string; key: string }

/** A new pair for localhost and 127.0.0.1, in files of that name. */
export function makePair(folder: string, name: string, subject = name): Pair {
  const pair = { certificate: join(folder, `${name}.pem`), key: join(folder, `${name}.key`) };
  execFileSync("openssl", ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", `/CN=${subject}`,
    "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", pair.key, "-out", pair.certificate], { stdio: "ignore" });
  return pair;
}

export interface SecureAnswer { status: number; headers: Record<string, string>; text: string; subject: string; socket: TLSSocket }

/** One request; `trusted` are files of certificates, of which the server's must be one. */
export function secureRequest(port: number, method: string, path: string, options: { trusted: string[]; agent?: Agent; body?: string | Buffer; headers?: Record<string, string>; tls?: object }): Promise<SecureAnswer> {
  return new Promise((resolve, reject) => {
    const ca = options.trusted.map((path) => readFileSync(path));
    let socket: TLSSocket;
    const out = request({ host: "127.0.0.1", port, method, path, ca, agent: options.agent ?? new Agent(), headers: options.headers ?? {}, ...options.tls }, (response) => {
      const chunks: Buffer[] = [], { subject } = socket.getPeerCertificate();
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => resolve({ status: response.statusCode!, headers: response.headers as Record<string, string>, text: Buffer.concat(chunks).toString("utf8"), subject: subject?.CN ?? "", socket }));
    });
    out.on("socket", (used) => (socket = used as TLSSocket));
    out.on("error", reject);
    out.end(options.body);
  });
}
