import type { Authentication } from '@ostiary/core';

export interface Session extends Authentication {
  readonly endsAt: number;
}

/** Sessions by their ids. They end with the process, and one process does not know those of another. */
export const sessions = new Map<string, Session>();
