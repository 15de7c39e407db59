// Requests to the server; every failure is an Error with the server's own sentence.

const BASE = "/api/v1";

export class Refused extends Error {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}

export async function ask<T>(method: string, path: string, body?: unknown): Promise<T> {
  const init: RequestInit = { method, credentials: "same-origin" };
  if (body instanceof Blob) {
    init.body = body;
  } else if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { "content-type": "application/json" };
  }
  const answer = await fetch(BASE + path, init);
  if (!answer.ok) {
    throw new Refused(await sentence(answer), answer.status);
  }
  const text = await answer.text();
  return (text ? JSON.parse(text) : undefined) as T;
}

async function sentence(answer: Response): Promise<string> {
  try {
    return ((await answer.json()) as { error: string }).error;
  } catch {
    return `${answer.status} ${answer.statusText}`;
  }
}

export const get = <T>(path: string) => ask<T>("GET", path);
export const post = <T>(path: string, body?: unknown) => ask<T>("POST", path, body ?? {});
export const address = (path: string) => BASE + path;
export const sessionPath = (id: string) => `/sessions/${encodeURIComponent(id)}`;

export function socketAddress(path: string): string {
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  return `${scheme}//${location.host}${BASE}${path}`;
}
