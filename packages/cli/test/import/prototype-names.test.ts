import { expect, it } from 'vitest';
import { grant, hydraClient, hydraConsent, metadata } from './samples.ts';
import { installation } from './support.ts';

const { provider, run } = await installation({ verifyImportedSecret: () => true, refreshTokens: {} });

/**
 * Returns the sample export as JSON in which the given values, such as that of `"client_id":"kafe"`, are
 * replaced by a name such as `__proto__`.
 */
const named = (sample: object, values: readonly string[], name: string): string =>
  values.reduce((json, value) => json.replaceAll(`"${value}"`, `"${name}"`), JSON.stringify(sample));

// The set-up of the tests checks after each test that objects have no new member.
it.each(Object.getOwnPropertyNames(Object.prototype))(
  '%s in an import file becomes no client',
  async (name) => {
    const files: [string, string][] = [
      ['oidc-provider', `[${named(metadata, ['kafe', 'Kafe', 'openid profile offline_access'], name)}]`],
      ['oidc-provider', `[${named(grant, ['kafe', 'user-1', 'openid profile'], name)}]`],
      ['oidc-provider', `[{"${name}":{"sid":"x"},${JSON.stringify(metadata).slice(1)}]`],
      ['hydra', `[${named(hydraClient, ['shop-1', 'Shop'], name)}]`],
      ['hydra', `[${named(hydraConsent, ['shop-1', 'openid', 'profile'], name)}]`],
      [
        'keycloak',
        `{"clients":[{"clientId":"${name}","${name}":{"x":1},"redirectUris":["https://a.example/cb"]}]}`,
      ],
      ['keycloak', `{"${name}":{"x":1},"clients":[]}`],
    ];
    const codes: number[] = [];
    for (const [from, content] of files) {
      const { code, err } = await run(from, content);
      codes.push(code);
      expect(err).not.toMatch(/TypeError|Cannot read|at .*\.ts:/);
    }
    // Clients are refused, consents for missing clients are left out, and members of that name have no
    // effect.
    expect(codes).toEqual([1, 0, 0, 1, 0, 1, 2]);
    expect(await provider.ostiary.admin.clients.get(name)).toBeNull();
  },
);
