import type { RawSettings } from './raw-server.ts';

/** What a raw server has to be told to answer as this answer did. */
export function rawAnswer(answer: Response, body: string): Omit<RawSettings, 'port'> {
  // Node writes these itself, as it does for the servers that are measured.
  const own = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding']);
  return { headers: [...answer.headers].filter(([name]) => !own.has(name)).flat(), body };
}
