import { hash as argon2 } from '@node-rs/argon2';
import { hash as bcrypt } from '@node-rs/bcrypt';
import type { VerifyImportedSecret } from '@ostiary/core';
import { expect, it } from 'vitest';
import { startProvider } from '../../../packages/core/test/support/running.ts';
import { recipeFolder } from './support/recipe.ts';

const { recipe } = recipeFolder();

const { verifyImportedSecret } = await recipe<{ verifyImportedSecret: VerifyImportedSecret }>(
  'Hashed secrets',
  {
    page: 'docs/import.md',
  },
);

const secret = 'a-secret-that-was-hashed-elsewhere';

it.each([
  ['bcrypt', secret, await bcrypt(secret, { cost: 4 })],
  ['argon2id', secret, await argon2(secret, { algorithm: 2 })],
  // Client secrets that Hydra 2.3.0 has hashed.
  [
    'PBKDF2 by Hydra',
    'the-known-secret-of-the-shop-0001',
    '$pbkdf2-sha256$i=25000,l=32$yDPurmZmsxBraWE+iK4WJQ$SdU5Zd47WN+aAOnDWGXH3Xldn79IH6sj4QZTktDL9bs',
  ],
  [
    'bcrypt by Hydra',
    'bcrypt-known-secret-of-30-chars',
    '$2a$10$G6R5MsR6t1g.yKWC9v3a.evCjr7WdyfYHQtlGgP0Cjx4xcP1/Hhlq',
  ],
  // Example from passlib's documentation.
  [
    'scrypt',
    'password',
    '$scrypt$ln=16,r=8,p=1$aM15713r3Xsvxbi31lqr1Q$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD+iCs5E',
  ],
])('the recipe checks secrets that were hashed with %s', async (_, right, hash) => {
  expect(await verifyImportedSecret(right, hash)).toBe(true);
  expect(await verifyImportedSecret(`${right}x`, hash)).toBe(false);
});

it('an app continues with its previous secret, which is then stored like every other secret', async () => {
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
