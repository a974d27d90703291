import { pbkdf2Sync } from 'node:crypto';
import { hash as argon2 } from '@node-rs/argon2';
import { hash as bcrypt } from '@node-rs/bcrypt';
import type { VerifyImportedSecret } from '@ostiary/core';
import { expect, it } from 'vitest';
import { startProvider } from '../../../packages/core/test/support/running.ts';
import { recipe } from './support/recipe.ts';

const { verifyImportedSecret } = await recipe<{ verifyImportedSecret: VerifyImportedSecret }>(
  'Hashed secrets',
  {
    page: 'docs/import.md',
  },
);

const secret = 'a-secret-that-was-hashed-elsewhere';
const unpadded = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
const derived = pbkdf2Sync(secret, 'salt-of-sixteen!', 25_000, 32, 'sha256');

it.each([
  ['bcrypt', secret, await bcrypt(secret, { cost: 4 })],
  ['argon2id', secret, await argon2(secret, { algorithm: 2 })],
  [
    'PBKDF2 of Hydra',
    secret,
    `$pbkdf2-sha256$i=25000,l=32$${unpadded(Buffer.from('salt-of-sixteen!'))}$${unpadded(derived)}`,
  ],
  // From the documentation of passlib.
  [
    'scrypt',
    'password',
    '$scrypt$ln=16,r=8,p=1$aM15713r3Xsvxbi31lqr1Q$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD+iCs5E',
  ],
])('the recipe checks secrets that were hashed with %s', async (_, right, hash) => {
  expect(await verifyImportedSecret(right, hash)).toBe(true);
  expect(await verifyImportedSecret(`${right}x`, hash)).toBe(false);
});

it('an app goes on with its secret of before, which is stored as every other from then on', async () => {
  const provider = await startProvider({ verifyImportedSecret });
  const redirectUri = 'https://kafe.example/callback';
  const given = { name: 'Kafe', redirectUris: [redirectUri], allowedScopes: ['openid'] };
  for (const clientSecretHash of [await bcrypt(secret, { cost: 4 }), await argon2(secret)]) {
    const { client } = await provider.ostiary.admin.clients.create({ ...given, clientSecretHash });
    const exchanged = await provider.token({ id: client.clientId, secret, redirectUri });
    expect(exchanged).toMatch(/^svc_at_/);
    const [stored] = (await provider.ostiary.admin.clients.get(client.clientId))?.secrets ?? [];
    expect(stored).toEqual({ createdAt: client.createdAt, expiresAt: null });
  }
});
