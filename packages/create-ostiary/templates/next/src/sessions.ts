import type { Authentication } from '@ostiary/core';

export interface Session extends Authentication {
  readonly endsAt: number;
}

const kept = globalThis as { sessions?: Map<string, Session> };
kept.sessions ??= new Map();

/**
 * Sessions by their ids. They are lost when the process ends and are not shared with other processes. Next.js
 * gives each route a copy of this module, and another copy after an edit: all copies share these sessions.
 */
export const { sessions } = kept;
