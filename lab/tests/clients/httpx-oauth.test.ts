import { fileURLToPath } from 'node:url';
import { beforeAll, expect, it } from 'vitest';
import { ana } from '../../../packages/core/test/support/directory.ts';
import { startProvider } from '../../../packages/core/test/support/running.ts';
import { httpxOAuth, type Installed, inPlace, installed } from './support/python-packages.ts';

const script = fileURLToPath(new URL('support/httpx_oauth_flow.py', import.meta.url));

let library: Installed;
beforeAll(async () => {
  library = await installed(httpxOAuth);
});

it.for([
  ['client_secret_basic', 'the right'],
  ['client_secret_basic', 'a wrong'],
  ['client_secret_post', 'the right'],
  ['client_secret_post', 'a wrong'],
])(
  'httpx-oauth reads the discovery and signs in, and revokes by %s with %s secret',
  async ([method = '', which], context) => {
    if ('missing' in library) {
      // Print the reason for the skip, which the reporter leaves out.
      console.warn(`not tested: ${library.missing}`);
      return context.skip(library.missing);
    }
    const provider = await startProvider();
    const app = await provider.client();
    const secret = app.secret ?? '';
    const said = await inPlace(
      library.bin,
      'python',
      [
        ...[script, `${provider.origin}/.well-known/openid-configuration`],
        ...[app.id, secret, await provider.code(app), app.redirectUri],
        ...[method, which === 'a wrong' ? 'wrong' : secret],
      ],
      { env: { NO_PROXY: '127.0.0.1' } },
    );
    const { chosen, sub, token } = JSON.parse(said) as Readonly<Record<string, unknown>>;
    expect(chosen).toEqual(['client_secret_basic', 'client_secret_basic']);
    expect(sub).toBe(ana.sub);
    expect(await provider.isAlive(token)).toBe(false);
  },
);
