import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../../lab/support/free-port.ts';
import { Assistant } from '../../../lab/support/mcp/assistant.ts';
import { acceptedAttacks, mixedUpUsers, signIn } from '../../../lab/support/mcp/attacks.ts';
import { connections } from '../../../lab/support/mcp/connections.ts';
import { SignInBrowser } from '../../../lab/support/mcp/sign-in-browser.ts';
import { installBuilt } from '../../../lab/support/packages/install-built.ts';
import { start } from '../../../lab/support/shell.ts';
import { appFiles } from '../src/app.ts';
import { frameworks } from '../src/choices.ts';
import { writeFiles } from '../src/folder.ts';

/** Folder of all apps. It is in this package, whose development dependencies include those of the apps. */
const parent = resolve(import.meta.dirname, `../.data/mcp-${process.pid}`);

beforeAll(async () => {
  for (const framework of frameworks) {
    const folder = join(parent, framework);
    writeFiles(
      folder,
      appFiles({ folder, framework, storage: 'sqlite', languages: ['ht', 'en'], mcp: true }),
    );
  }
  for (const name of ['core', 'adapter-sqlite']) await installBuilt(name, parent);
  return () => rmSync(parent, { recursive: true, force: true });
}, 60_000);

const ana = { handle: 'ana', password: 'kafe ak pen' };
const jean = { handle: 'jean', password: 'diri ak pwa' };

/** Returns tokens of two users for the MCP server, and a token for another purpose. */
async function attackTokens(origin: string) {
  const [reader, writer] = [new SignInBrowser(ana), new SignInBrowser(jean)];
  const assistant = {
    clientId: 'assistant',
    redirectUri: 'http://127.0.0.1:51236/callback',
    resource: `${origin}/mcp`,
  };
  const demo = { clientId: 'demo-app', redirectUri: 'http://localhost:4000/callback' };
  const answers = [
    await signIn(origin, reader, { ...assistant, scope: 'notes:read' }),
    await signIn(origin, writer, { ...assistant, scope: 'notes:read notes:write' }),
    await signIn(origin, reader, { ...demo, scope: 'openid profile' }),
  ];
  const [first = '', second = '', third = ''] = answers.map(({ access_token }) => String(access_token));
  return { reader: first, writer: second, elsewhere: third };
}

/** Starts an app, and returns its origin once it responds. */
async function started(framework: string): Promise<string> {
  const port = await freePort();
  // Next.js builds an app before `npm start` runs it, which takes a minute; apps.test.ts does that if
  // TEST_EVERY_APP is set.
  const command = framework === 'next' ? 'npm run dev' : 'npm start';
  const server = start(join(parent, framework), command, { PORT: String(port) });
  onTestFinished(() => server.stop());
  const origin = `http://localhost:${port}`;
  for (; !server.hasEnded(); await pause(50))
    if ((await fetch(`${origin}/login`).catch(() => null))?.ok) return origin;
  throw new Error(`the app ended: ${server.said()}`);
}

describe.each(frameworks)('the MCP server of an app on %s', (framework) => {
  it('lets unmodified clients sign in, call tools and ask for more, and withstands attacks', async () => {
    const origin = await started(framework);
    for (const connect of Object.values(connections)) {
      const assistant = new Assistant(origin, { clientId: 'assistant' }, 51_234, new SignInBrowser(ana));
      const connection = await connect(new URL(`${origin}/mcp`), assistant);

      expect(await connection.tools()).toEqual(['list_notes', 'add_note']);
      expect(assistant.pages).toHaveLength(1);
      expect(assistant.pages[0]).toContain('Read your notes');
      expect(assistant.pages[0]).not.toContain('Write notes');
      expect(await connection.call('list_notes')).toMatchObject({ content: [{ type: 'text' }] });

      await connection.call('add_note', { text: 'buy bread' });
      expect(assistant.pages).toHaveLength(2);
      expect(assistant.pages[1]).toContain('Write notes');
      expect(JSON.stringify(await connection.call('list_notes'))).toContain('buy bread');
      expect(assistant.pages).toHaveLength(2);
    }

    const tokens = await attackTokens(origin);
    expect(await acceptedAttacks(`${origin}/mcp`, tokens)).toEqual([]);
    expect(await mixedUpUsers(`${origin}/mcp`, tokens)).toEqual([]);
    const own = await fetch(`${origin}/api/me`, { headers: { Authorization: `Bearer ${tokens.writer}` } });
    expect(own.status, 'a token for the MCP server at another endpoint').toBe(401);
  }, 120_000);
});
