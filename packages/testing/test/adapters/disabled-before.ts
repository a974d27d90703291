import type { Storage } from '@ostiary/core/storage';
import { expect } from 'vitest';
import { digestOf } from '../../src/contract/samples.ts';

/**
 * Rows from before partners ended what they have: of a disabled partner `off`, of `on`, and of nobody a client with a
 * grant and a token each, an event with a delivery of the partners', and an act outside of any chain.
 */
export const rowsFromBefore = {
  partners: "('off', 'Off', 1, 7, 7, 2), ('on', 'On', 1, 1, NULL, 1)",
  clients: `('c-off', 1, 'off', '{"secrets":[]}'), ('c-on', 1, 'on', '{"secrets":[]}'), ('c-none', 1, NULL, '{"secrets":[]}')`,
  audit: "('aud_1', 1, 'ana', 'partner.disable', 'partner:off', '{}')",
};

/** What an upgrade makes of them: what the disabled partner had has ended, and nothing else. */
export async function expectEnded(storage: Storage): Promise<void> {
  const { grants, clients, deliveries, audit } = storage;
  for (const name of ['off', 'on', 'none']) {
    const isOff = name === 'off';
    expect((await grants.findToken(digestOf(`token of ${name}`)))?.revoked, name).toBe(isOff);
    expect((await clients.find(`c-${name}`))?.partnerDisabled, name).toBe(isOff);
    if (name === 'none') continue;
    const all = { endpointId: null, eventId: null, status: null, after: null, limit: 9 };
    const [delivery] = await deliveries.list({ partner: name, mode: 'live', ...all });
    expect(delivery).toMatchObject({ id: `dl_${name}`, status: isOff ? 'cancelled' : 'pending' });
  }

  expect(await audit.head()).toMatchObject({ number: 0, before: 1, outside: 1 });
  const act = { at: 9, actor: 'ana', action: 'partner.enable', target: 'partner:off', details: {} };
  await audit.append({ id: 'aud_2', ...act, digest: digestOf('an act') });
  expect(await audit.head()).toMatchObject({ number: 1, before: 1, outside: 1 });
  expect((await audit.chain({ after: 0, limit: 9 })).map(({ id }) => id)).toEqual(['aud_2']);
  const listed = await audit.list({ target: null, after: null, limit: 9 });
  expect(listed.map(({ id }) => id)).toEqual(['aud_2', 'aud_1']);
}
