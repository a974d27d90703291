import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

/**
 * Returns the modules of the core package and of jose that a process with the given options has loaded once it
 * is ready.
 */
async function loadedWith(options: string): Promise<readonly string[]> {
  const script = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
    const { createOstiary } = await import(${JSON.stringify(new URL('../src/index.ts', import.meta.url).href)});
    const { memoryStorage } = await import(${JSON.stringify(import.meta.resolve('@ostiary/testing/memory'))});
    const ostiary = await createOstiary({
      authUrl: 'https://id.example',
      storage: memoryStorage(),
      sealingKeys: [new Uint8Array(32)],
      users: { find: () => null, findByKid: () => null, findByPhone: () => null },
      login: { authenticate: () => null, loginUrl: () => '/login' },
      ...(${options}),
    });
    await ostiary.close();
    console.log(JSON.stringify(loaded));
  `;
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...['--conditions=ostiary-source', '--input-type=module', '--eval', script],
  ]);
  const inside = new URL('../src/', import.meta.url).href;
  return (JSON.parse(stdout) as string[]).flatMap((url) => {
    if (url.startsWith(inside)) return [url.slice(inside.length)];
    return /\/(jose\/dist\/.*)/.exec(url)?.[1] ?? [];
  });
}

const withOptions = [
  ['languages/host-texts.ts', "texts: { en: { technical: 'More' } }"],
  ['scopes/ready-scopes.ts', 'scopes: { email: true }'],
  ['oauth/refresh.ts', 'refreshTokens: {}'],
  ['scopes/resources.ts', 'resources: {}'],
  ['oauth/introspection.ts', 'introspection: true'],
  ['oauth/client-assertion.ts', 'privateKeyJwt: true'],
  ['oauth/pushed-requests.ts', 'pushedRequests: {}'],
  ['oauth/pushed-authorization.ts', 'pushedRequests: {}'],
  ['oauth/logout.ts', "login: { authenticate: () => null, loginUrl: () => '/', signOut: () => {} }"],
  ['operators/routes.ts', 'operators: { authenticate: () => null, pages: { pages: () => [] } }'],
  ['partner/create-partner.ts', "payments: { execute: async () => ({ status: 'completed' }) }"],
] as const;

it('what an option opens is loaded with the option, and not without', async () => {
  const [without, loaded] = await Promise.all([
    loadedWith('{}'),
    loadedWith(`{ ${withOptions.map(([, option]) => option).join(', ')} }`),
  ]);
  for (const [module] of withOptions) {
    expect(without).not.toContain(module);
    expect(loaded).toContain(module);
  }
  expect(without).toContain('ostiary.ts');
  // Only the parts of jose that a start needs are loaded: the whole has 46 files.
  expect(without).toContain('jose/dist/webapi/jws/compact/sign.js');
  expect(without).not.toContain('jose/dist/webapi/index.js');
  expect(without.filter((name) => name.startsWith('partner/'))).toEqual(['partner/error-answer.ts']);
});

it('a resource server in a separate process loads neither a provider nor a database', async () => {
  const entry = new URL('../src/resource-server.ts', import.meta.url).href;
  const script = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
    await import(${JSON.stringify(entry)});
    console.log(loaded.join(' '));
  `;
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...['--conditions=ostiary-source', '--input-type=module', '--eval', script],
  ]);
  expect(stdout).toContain('resource-server/remote.ts');
  expect(stdout).not.toMatch(/node_modules\/(?:oidc-provider|koa|@koa|better-sqlite3|pg|jose|undici)\//);
});
