import type { Installation } from '@ostiary/reference-server';
import type { DemoApiKey } from './demo-file.ts';

/** The shop, as the partner API knows it. */
export const demoPartner = 'kafe-lakay';

type KeyScopes = Parameters<Installation['ostiary']['admin']['apiKeys']['issue']>[0]['scopes'];

const allScopes: KeyScopes = [
  'identity:verify',
  'payments:write',
  'payments:read',
  'users:read',
  'webhooks',
  'reconciliation:read',
];

/** Minor units that the shop starts with, and below which it is funded again. */
const stock = {
  HTG: { amount: '100000.00', low: 100_000n },
  USD: { amount: '1000.00', low: 10_000n },
} as const;

async function seedApiKey(
  { ostiary, now }: Installation,
  prefix: string,
  mode: 'live' | 'test',
  known: DemoApiKey | undefined,
): Promise<DemoApiKey> {
  const { apiKeys } = ostiary.admin;
  const stored = (await apiKeys.list(demoPartner)).filter(
    ({ revokedAt, expiresAt }) => revokedAt === null && (expiresAt === null || Date.parse(expiresAt) > now()),
  );
  // A key of another prefix is refused by this server.
  const usable = known?.key.startsWith(`${prefix}_${mode}_`) === true;
  if (known !== undefined && usable && stored.some(({ id }) => id === known.id)) return known;
  const name = `npm start (${mode})`;
  // Keys of a file that was lost: nobody knows them any more.
  for (const lost of stored) if (lost.name === name) await apiKeys.revoke(lost.id);
  const { apiKey, key, signingSecret } = await apiKeys.issue({
    partner: demoPartner,
    mode,
    name,
    scopes: allScopes,
  });
  return { id: apiKey.id, mode, key, scopes: apiKey.scopes, partner: demoPartner, signingSecret };
}

/** Creates the partner, its keys and its funds, where they are missing. */
export async function seedPartner(
  installation: Installation,
  prefix: string,
  known: readonly DemoApiKey[],
): Promise<readonly DemoApiKey[]> {
  const { ostiary, ledger } = installation;
  if ((await ostiary.admin.partners.get(demoPartner)) === null) {
    await ostiary.admin.partners.create({ slug: demoPartner, name: 'Kafe Lakay' });
  }
  for (const currency of ['HTG', 'USD'] as const) {
    const { amount, low } = stock[currency];
    if ((await ledger.funds(demoPartner))[currency] < low) await ledger.fund(demoPartner, amount, currency);
  }
  const apiKeys: DemoApiKey[] = [];
  for (const mode of ['live', 'test'] as const) {
    apiKeys.push(
      await seedApiKey(
        installation,
        prefix,
        mode,
        known.find((key) => key.mode === mode && key.partner === demoPartner),
      ),
    );
  }
  return apiKeys;
}
