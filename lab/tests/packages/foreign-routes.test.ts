import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { type PartnerFolder, partnerFolderWith } from '../../support/packages/installed.ts';
import { run, start } from '../../support/shell.ts';
import { deliver, secret } from './support/delivery.ts';

// Runs only on demand, because both frameworks install half of Vite's dependencies.
const isEvery = process.env.TEST_EVERY_APP !== undefined;

let installed: PartnerFolder | undefined;
afterEach(() => installed?.remove());

/** Installs an application from its files, and builds the application with the given command. */
async function built(
  tools: Readonly<Record<string, string>>,
  files: Readonly<Record<string, string>>,
  build: string,
): Promise<string> {
  installed = await partnerFolderWith(['webhook-verifier'], tools);
  const { folder } = installed;
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  await run(folder, build);
  return folder;
}

/** Starts a built application and posts deliveries to its webhook receiver at `/hook`. */
async function takesDeliveries(folder: string, command: string): Promise<void> {
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const env = { PORT: String(port), ORIGIN: origin, HOST: 'localhost', WEBHOOK_SECRET: secret };
  const app = start(folder, command, { ...env, NODE_ENV: 'production' });
  try {
    await expect.poll(() => fetch(origin).then(Boolean, () => app.hasEnded())).toBe(true);
    expect(await deliver(`${origin}/hook`), app.said()).toEqual([200, { received: true }]);
    expect(await deliver(`${origin}/hook`, 'another secret of it')).toMatchObject([
      400,
      { error: 'signature_mismatch' },
    ]);
    expect(app.said()).toContain('webhook.test');
  } finally {
    await app.stop();
  }
}

const handler = '({ event }) => console.log(event.type)';
const receiver = `webhook({ secret: process.env.WEBHOOK_SECRET }, ${handler})`;
const imported = `import { webhook } from '@ostiary/webhook-verifier/fetch';`;

const svelteKit = {
  ...{ '@sveltejs/adapter-node': '6.0.1', '@sveltejs/kit': '3.2.0', svelte: '5.57.3', vite: '8.3.8' },
  '@sveltejs/vite-plugin-svelte': '7.3.1',
};
const svelteFiles = {
  'vite.config.js': `import adapter from '@sveltejs/adapter-node';
import { sveltekit } from '@sveltejs/kit/vite';
export default { plugins: [sveltekit({ adapter: adapter() })] };`,
  'src/app.html': '<!doctype html><html><head>%sveltekit.head%</head><body>%sveltekit.body%</body></html>',
  'src/routes/+page.svelte': '<h1>Shop</h1>',
};

it.runIf(isEvery)(
  'SvelteKit: `export const POST = webhook(…)`, with the secret at the build',
  async () => {
    const route = { 'src/routes/hook/+server.js': `${imported}\nexport const POST = ${receiver};` };
    const build = `WEBHOOK_SECRET='${secret}' npx vite build`;
    const folder = await built(svelteKit, { ...svelteFiles, ...route }, build);
    await takesDeliveries(folder, 'exec node build');
  },
  300_000,
);

it.runIf(isEvery)(
  'SvelteKit: a receiver for each request, without the secret at the build',
  async () => {
    const route = {
      'src/routes/hook/+server.js': `${imported}\nexport const POST = (given) => ${receiver}(given);`,
    };
    const folder = await built(svelteKit, { ...svelteFiles, ...route }, 'npx vite build');
    await takesDeliveries(folder, 'exec node build');
  },
  300_000,
);

it.runIf(isEvery)(
  'React Router, as Remix is called now: `export const action = webhook(…)`',
  async () => {
    const version = '7.18.4';
    const tools = {
      ...{ 'react-router': version, '@react-router/dev': version, '@react-router/node': version },
      ...{ '@react-router/serve': version, react: '19.3.1', 'react-dom': '19.3.1', vite: '7.3.8' },
      isbot: '5.2.3',
    };
    const files = {
      'vite.config.js': `import { reactRouter } from '@react-router/dev/vite';
export default { plugins: [reactRouter()] };`,
      'app/root.jsx': `import { createElement } from 'react';
import { Outlet } from 'react-router';
export default () => createElement('html', null, createElement('body', null, createElement(Outlet)));`,
      'app/routes.js': `import { route } from '@react-router/dev/routes';
export default [route('hook', 'routes/hook.js')];`,
      'app/routes/hook.js': `${imported}\nexport const action = ${receiver};`,
    };
    const folder = await built(tools, files, 'npx react-router build');
    await takesDeliveries(folder, 'exec npx react-router-serve build/server/index.js');
  },
  300_000,
);
