import { describe, expect, test } from 'vitest';
import { command } from '../support/commands.ts';
import { environment, startServer } from '../support/server.ts';
import { Visitor } from '../support/visitor.ts';

const settings = {
  OSTIARY_OPERATORS: 'on',
  OSTIARY_OPERATORS_HEADER: 'Remote-User',
  OSTIARY_OPERATORS_GROUPS_HEADER: 'Remote-Groups',
  OSTIARY_OPERATORS_ROLES: 'root@example.com=owner, helpdesk=support, ops=admin, *=viewer',
};

describe('operators named by a proxy', () => {
  test('have the highest role of their name and groups, which the audit log keeps', async () => {
    const { origin, server } = await startServer(
      {},
      { ...settings, OSTIARY_TRUSTED_PROXIES: '127.0.0.1,::1' },
    );
    const statuses = async (headers: Record<string, string>) => {
      const browser = new Visitor(origin, headers);
      const paths = ['/operators', '/operators/users', '/operators/new-client', '/operators/upkeep'];
      return Promise.all(paths.map(async (path) => (await browser.get(path)).status));
    };
    expect(await statuses({ 'Remote-User': 'eve' })).toEqual([200, 403, 403, 403]);
    expect(await statuses({ 'Remote-User': 'bob', 'Remote-Groups': 'all, helpdesk' })).toEqual([
      200, 200, 403, 403,
    ]);
    expect(await statuses({ 'Remote-User': 'bob', 'Remote-Groups': 'helpdesk,ops' })).toEqual([
      200, 200, 200, 403,
    ]);
    expect(await statuses({ 'Remote-User': 'root@example.com' })).toEqual([200, 200, 200, 200]);
    expect(await statuses({})).toEqual([403, 403, 403, 403]);
    const browser = new Visitor(origin, { 'Remote-User': 'root@example.com' });
    const csrf = /name="csrf" value="([^"]+)"/.exec((await browser.get('/operators/upkeep')).html)?.[1] ?? '';
    await browser.post('/operators/upkeep', { csrf, act: 'purge' });
    const [act] = (await server.installation.admin.audit.list()).entries;
    expect(act).toMatchObject({ actor: 'root@example.com', role: 'owner', action: 'storage.purge' });
    expect((await browser.get('/staff/login')).status).toBe(404);
  });

  test('are believed only from a trusted proxy, and everything else is logged', async () => {
    const { origin, lines } = await startServer({}, { ...settings, OSTIARY_TRUSTED_PROXIES: '198.51.100.1' });
    const forwarded = { 'X-Forwarded-For': '198.51.100.1' };
    for (const more of [{}, forwarded, { 'X-Forwarded-For': '192.0.2.1' }]) {
      const browser = new Visitor(origin, { 'Remote-User': 'root@example.com', ...more });
      expect((await browser.get('/operators')).status).toBe(403);
    }
    const warnings = lines.filter((line) => line.includes('remote-user came from an address'));
    expect(warnings).toHaveLength(1);
  });

  test('are refused if the header came twice or empty: one may be the caller’s', async () => {
    const { origin, lines } = await startServer(
      {},
      { ...settings, OSTIARY_TRUSTED_PROXIES: '127.0.0.1,::1' },
    );
    const { request } = await import('node:http');
    const status = (headers: Record<string, string | string[]>) =>
      new Promise((resolve, reject) => {
        const sent = request(`${origin}/operators`, { headers }, (response) => {
          response.resume();
          resolve(response.statusCode);
        });
        sent.on('error', reject).end();
      });
    expect(await status({ 'Remote-User': ['root@example.com', 'eve'] })).toBe(403);
    expect(await status({ 'Remote-User': '' })).toBe(403);
    expect(await status({ 'Remote-User': 'eve', 'Remote-Groups': ['ops', 'x'] })).toBe(403);
    expect(await status({ 'Remote-User': 'eve' })).toBe(200);
    expect(lines.some((line) => line.includes('came more than once'))).toBe(true);
  });

  test('have names and groups in UTF-8', async () => {
    const roles = 'Élodie=owner,équipe=support';
    const { origin, server } = await startServer(
      {},
      { ...settings, OSTIARY_OPERATORS_ROLES: roles, OSTIARY_TRUSTED_PROXIES: '127.0.0.1,::1' },
    );
    const sent = (text: string): string => Buffer.from(text).toString('latin1');
    const elodie = new Visitor(origin, { 'Remote-User': sent('Élodie') });
    const page = await elodie.get('/operators/upkeep');
    expect([page.status, page.html.includes('Élodie')]).toEqual([200, true]);
    const csrf = /name="csrf" value="([^"]+)"/.exec(page.html)?.[1] ?? '';
    await elodie.post('/operators/upkeep', { csrf, act: 'purge' });
    const [act] = (await server.installation.admin.audit.list()).entries;
    expect(act).toMatchObject({ actor: 'Élodie', role: 'owner' });
    const groups = { 'Remote-User': 'bob', 'Remote-Groups': sent('ops, équipe') };
    expect((await new Visitor(origin, groups).get('/operators/users')).status).toBe(200);
    // Latin-1, as some proxies send it, is still read.
    expect((await new Visitor(origin, { 'Remote-User': 'Élodie' }).get('/operators')).status).toBe(200);
  });

  test('need settings that fit together', async () => {
    for (const [changes, words] of [
      [{ ...settings }, 'OSTIARY_TRUSTED_PROXIES'],
      [{ ...settings, OSTIARY_TRUSTED_PROXIES: '10.0.0.1', OSTIARY_OPERATORS_ROLES: '' }, 'nobody gets in'],
      [{ ...settings, OSTIARY_OPERATORS: 'off' }, 'needs OSTIARY_OPERATORS=on'],
      [{ OSTIARY_OPERATORS: 'on', OSTIARY_OPERATORS_ROLES: 'a=owner' }, 'needs OSTIARY_OPERATORS_HEADER'],
      [{ ...settings, OSTIARY_OPERATORS_ROLES: 'a=king' }, 'must be names with a role'],
    ] as const)
      expect.soft((await command('users list', [], await environment(changes))).errors).toContain(words);
  });
});
