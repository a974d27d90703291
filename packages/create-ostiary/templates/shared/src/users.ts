import { randomBytes, scrypt, scryptSync, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import type { UserRecord } from '@ostiary/core';
import { authUrl, isPublic } from './settings.ts';

// REPLACE THIS by your own users. These are demo users in memory with public passwords. They therefore exist
// only under a local URL (see `isPublic` in settings.ts), not under a public URL.

interface User {
  readonly record: UserRecord;
  readonly salt: Buffer;
  readonly hash: Buffer;
}

const hashOf = promisify<string, Buffer, number, Buffer>(scrypt);

function demoUser(handle: string, name: string, password: string): User {
  const salt = randomBytes(16);
  const record: UserRecord = {
    sub: `user-${handle}`,
    kid: `KID-${handle.toUpperCase()}`,
    name,
    handle,
    role: 'member',
    country: 'HT',
    createdAt: '2026-01-01T00:00:00Z',
    avatarUrl: null,
    kycStatus: 'approved',
    kycTier: 1,
    email: `${handle}@example.com`,
    emailVerified: true,
  };
  return { record, salt, hash: scryptSync(password, salt, 32) };
}

const users = isPublic
  ? []
  : [
      demoUser('ana', 'Ana Pierre', 'kafe ak pen'),
      demoUser('jean', 'Jean Baptiste', 'diri ak pwa'),
      demoUser('rose', 'Rose Toussaint', 'soup joumou'),
    ];
if (isPublic) console.warn(`There are no demo users at ${authUrl}: put your own users into src/users.ts`);

// Checked in place of an unknown user, so that the response time does not reveal which names exist.
const nobody = demoUser('nobody', 'Nobody', randomBytes(16).toString('hex'));

/**
 * Returns the user with an id, or `null` if there is none. Return `null` for blocked users, too: they then lose
 * access at once.
 */
export function findUser(sub: string): UserRecord | null {
  return users.find(({ record }) => record.sub === sub)?.record ?? null;
}

/** Returns the user with this name and password, or `null`. */
export async function checkPassword(handle: string, password: string): Promise<UserRecord | null> {
  const user = users.find(({ record }) => record.handle === handle);
  const { record, salt, hash } = user ?? nobody;
  const isRight = timingSafeEqual(await hashOf(password, salt, 32), hash);
  return isRight && user !== undefined ? record : null;
}
