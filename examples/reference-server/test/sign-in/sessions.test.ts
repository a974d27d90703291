import { beforeEach, describe, expect, test } from 'vitest';
import type { SqliteDatabase } from '../../src/database/sqlite.ts';
import { createSessions, type Sessions, userSessions } from '../../src/sign-in/sessions.ts';
import { createAccounts } from '../../src/users/accounts.ts';
import { createPasswords } from '../../src/users/passwords.ts';
import { testDatabase } from '../support/database.ts';
import { anaika, cheap } from '../support/server.ts';

describe('sessions', () => {
  let now = 0;
  let database: SqliteDatabase;
  let sessions: Sessions;
  let sub = '';

  beforeEach(async () => {
    now = Date.parse('2026-05-01T12:00:00.123Z');
    ({ database } = await testDatabase());
    sessions = createSessions(database, () => now);
    ({ sub } = await createAccounts(database, createPasswords(cheap), () => now).create(anaika));
  });

  test('are not found by invalid ids', async () => {
    await sessions.start(sub, null);
    for (const id of [undefined, '', 'x', 'A'.repeat(43), 'A'.repeat(10_000)]) {
      expect(await sessions.find(id)).toBeNull();
    }
  });

  test('are stored without their id', async () => {
    const id = await sessions.start(sub, null);
    const [row] = database.connection.prepare<[], { digest: Buffer }>('SELECT * FROM app_sessions').all();
    expect(row?.digest).toHaveLength(32);
    expect(row?.digest.equals(Buffer.from(id, 'base64url'))).toBe(false);
  });

  test('expire after a day, even if they are used', async () => {
    const id = await sessions.start(sub, null);
    for (const end = now + userSessions.absoluteMs - 1; now < end; now = Math.min(end, now + 3_600_000)) {
      expect(await sessions.find(id)).not.toBeNull();
    }
    now += 1;
    expect(await sessions.find(id)).toBeNull();
  });

  test('end if the clock goes back to before they began, but not for small clock differences', async () => {
    const id = await sessions.start(sub, null);
    now -= 5_000;
    expect(await sessions.find(id)).not.toBeNull();
    now -= 3_600_000;
    expect(await sessions.find(id)).toBeNull();
  });

  test('expire after two hours without a request, by the clock that was set back', async () => {
    const id = await sessions.start(sub, null);
    now += 2 * 3_600_000 - 60_000;
    expect(await sessions.find(id)).not.toBeNull();
    now -= 3_600_000;
    expect(await sessions.find(id)).not.toBeNull();
    now += userSessions.idleMs;
    expect(await sessions.find(id)).toBeNull();
  });
});
