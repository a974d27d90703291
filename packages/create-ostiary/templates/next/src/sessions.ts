import type { Authentication } from '@ostiary/core';

export interface Session extends Authentication {
  readonly endsAt: number;
}

const kept = globalThis as { sessions?: Map<string, Session> };
kept.sessions ??= new Map();

/**
 * Sessions by their ids. They end with the process, and one process does not know those of another. Next.js gives each
 * route a copy of this module, and another copy after an edit: all copies share these sessions.
 */
export const { sessions } = kept;
