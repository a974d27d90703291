import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { UserDirectory, UserRecord } from '../../core/src/index.ts';
import { rawGet, sendRaw } from '../../core/test/attacks/raw.ts';
import { ana } from '../../core/test/support/directory.ts';
import { exportReconciliation } from '../src/reconciliation/index.ts';
import { partner } from './support/partner.ts';

/** Generates ids of 1 to 255 printable ASCII characters, as hosts and older services create them. */
const id = fc.oneof(
  fc
    .string({ unit: 'binary-ascii', minLength: 1, maxLength: 20 })
    .filter((text) => /^[\x20-\x7E]+$/.test(text)),
  fc.string({ unit: fc.constantFrom(...'./%?#&=+|:@\\ "\',;_-aZ0'), minLength: 1, maxLength: 255 }),
  fc.constantFrom('.', '..', '%2E', '%2e%2E', 'phone', 'phone/+50937000001', '__proto__', 'constructor'),
);

const known: readonly string[] = [
  ...['auth0|5f7c8ec7c33c6c004bbafe82', 'f:5f7c8ec7-c33c-6c00-4bba-fe82:jean', 'ana@example.com', 'acct.17'],
  ...[
    'u'.repeat(65),
    '~'.repeat(255),
    '.',
    '..',
    'a/b',
    '../x',
    '%',
    '%2F',
    '?x=1#y',
    ' ',
    '=1+1',
    '"',
    '\\',
  ],
];

/** Encodes an id as a single path segment, without the normalization that `URL` makes. */
const segmentOf = (kid: string): string => encodeURIComponent(kid).replaceAll('.', '%2E');

/** A host application with one user whose ids the test chooses. */
class OneUser {
  record: UserRecord = ana;
  readonly directory: UserDirectory = {
    find: (sub) => (sub === this.record.sub ? this.record : null),
    findByKid: (kid) => (kid === (this.record.kid ?? this.record.sub) ? this.record : null),
    findByPhone: () => this.record,
  };
}

it('every id that the service returns is accepted by it, with the SDK and with raw HTTP', async () => {
  const host = new OneUser();
  const { provider, key, ostiary } = await partner({ users: host.directory }, { mode: 'live' });
  const client = await provider.client({ partner: key.partner });
  const rawUser = async (target: string) => {
    const answer = await sendRaw(
      provider.origin,
      rawGet(`/v1/partner/users${target}`, [`X-API-Key: ${key.key}`]),
    );
    return JSON.parse(answer.body) as { readonly kid?: string };
  };
  const { consents, passports, users, tokens } = provider.ostiary;

  async function roundTrip(sub: string, kid: string | undefined): Promise<void> {
    host.record = { ...ana, sub, kid };
    const accessToken = await provider.token(client, 'openid kyc', provider.browser(sub));
    const userinfo = (await provider.userinfo(accessToken)).json();
    expect(userinfo).toMatchObject({ sub, kid: kid ?? sub });
    expect(await tokens.verify(accessToken)).toMatchObject({ active: true, sub });
    const handedOut = String(userinfo.kid);

    const { token } = await passports.issue(sub);
    expect((await ostiary.passports.verify({ token })).user.kid).toBe(handedOut);
    expect(await ostiary.users.retrieveByPhone('+50937000001')).toMatchObject({ kid: handedOut });
    expect(await ostiary.users.retrieve(handedOut)).toMatchObject({ kid: handedOut, kycTier: 2 });
    expect(await rawUser(`/${segmentOf(handedOut)}`)).toMatchObject({ kid: handedOut });
    expect(await rawUser(`?${new URLSearchParams({ kid: handedOut })}`)).toMatchObject({ kid: handedOut });

    const recipient = { kid: handedOut };
    const paid = await ostiary.payments.create({ amount: '1.00', currency: 'HTG', recipient });
    await provider.ostiary.worker.runDue();
    expect(await ostiary.payments.retrieve(paid.id)).toMatchObject({ status: 'completed', recipient });
    const listed = [];
    for await (const transfer of ostiary.payments.list({ limit: 100 })) listed.push(transfer);
    expect(listed.find((transfer) => transfer.id === paid.id)).toMatchObject({ recipient });
    const date = new Date(provider.clock.now()).toISOString().slice(0, 10);
    const rows = [];
    for await (const row of exportReconciliation(ostiary, { date })) rows.push(row);
    expect(rows.find((row) => row.id === paid.id)).toMatchObject({ recipientKid: handedOut });

    const previous = { kycStatus: 'pending', kycTier: 1 } as const;
    await users.kycChanged({ sub, kid, kycStatus: 'approved', kycTier: 2, previous });
    const events = [];
    for await (const event of ostiary.events.list({ limit: 100 })) events.push(event);
    expect(events.slice(-2)).toMatchObject([{ data: { recipient } }, { data: { kid: handedOut } }]);

    expect(await consents.list(sub)).toMatchObject([{ clientId: client.id }]);
    await users.signedOut(sub);
    expect(await consents.revoke(sub, client.id)).toBe(true);
    await provider.token(client, 'openid', provider.browser(sub));
    await users.end(sub);
    expect(await consents.list(sub)).toEqual([]);
  }

  for (const one of known) await roundTrip(one, undefined);
  for (const one of known) await roundTrip('user-ana', one);
  await fc.assert(fc.asyncProperty(id, fc.option(id, { nil: undefined }), roundTrip), { numRuns: 25 });
  expect(provider.errors).toEqual([]);
}, 60_000);
