// The one answer of the server that this page needs.

export interface Health {
  version: string;
  table: string | null;
}

export async function readHealth(): Promise<Health> {
  const answer = await fetch("/api/v1/health");
  if (!answer.ok) {
    throw new Error(`status ${answer.status}`);
  }
  return (await answer.json()) as Health;
}
