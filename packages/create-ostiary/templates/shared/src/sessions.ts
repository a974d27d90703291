import type { Authentication } from '@ostiary/core';

export interface Session extends Authentication {
  readonly endsAt: number;
}

/** Sessions by their ids. They are lost when the process ends and are not shared with other processes. */
export const sessions = new Map<string, Session>();
