import { describe, expect, test } from 'vitest';
import { csrfOf, joined, startForStaff } from '../support/staff.ts';
import { Visitor } from '../support/visitor.ts';

const minute = 60_000;

/** Returns the path of the invitation link on a page; '' if the page shows no link. */
const linkIn = (html: string): string => /(\/staff\/join\?link=[\w-]+)</.exec(html)?.[1] ?? '';

/** Starts a server with an owner and an administrator who are signed in. */
async function started() {
  const kit = await startForStaff();
  const { staff } = kit.server.installation;
  const { browser: owner } = await joined(kit, 'root@example.com', 'owner');
  const { browser: admin } = await joined(kit, 'ana@example.com', 'admin');
  return {
    ...{ kit, owner, admin },
    /** Submits a form of an operators' page, with the CSRF token from the audit log's form. */
    async submit(browser: Visitor, path: string, form: Record<string, string>) {
      const csrf = csrfOf((await browser.get('/operators/audit')).html);
      return browser.post(`/operators${path}`, { csrf, ...form });
    },
    async pathOf(email: string): Promise<string> {
      const member = (await staff.list()).find((one) => one.email === email);
      return `/staff/${member?.id}`;
    },
    /** Returns the path to which a response redirects. */
    after: ({ location }: { readonly location: string | null }): string =>
      (location ?? '').replace(kit.origin, ''),
    roles: async () => (await staff.list()).map(({ email, role }) => `${email} ${role}`).sort(),
  };
}

describe('the pages that manage staff', () => {
  test('are for owners alone, whose sign-in is recent', async () => {
    const { kit, owner, admin, submit, pathOf, after, roles } = await started();
    const before = await roles();
    const path = await pathOf('ana@example.com');
    for (const page of ['/staff', path]) {
      expect((await owner.get(`/operators${page}`)).status).toBe(200);
      expect((await admin.get(`/operators${page}`)).status).toBe(403);
      for (const form of [
        { act: 'invite', name: 'eve@example.com', role: 'owner' },
        { act: 'role', role: 'owner' },
      ])
        expect((await submit(admin, page, form)).status).toBe(403);
    }
    expect((await owner.get('/operators')).html).toContain('/operators/staff"');
    expect((await admin.get('/operators')).html).not.toContain('/operators/staff"');
    expect((await owner.post(`/operators${path}`, { csrf: 'x', act: 'disable' })).status).toBe(403);
    for (const form of [{ act: 'role', role: 'god' }, { act: 'explode' }])
      expect((await submit(owner, path, form)).status).toBe(400);
    expect((await owner.get('/operators/staff/stf_0')).status).toBe(404);
    kit.advance(11 * minute);
    const asked = await submit(owner, path, { act: 'disable' });
    expect(after(asked)).toContain('/staff/login?again=1');
    expect(await roles()).toEqual(before);
  });

  test('invite a person with a link that is shown once', async () => {
    const { kit, owner, submit, after } = await started();
    const invite = (name: string) => submit(owner, '/staff', { act: 'invite', name, role: 'viewer' });
    const invited = await invite(' eve@example.com');
    expect(invited.status).toBe(303);
    const link = linkIn((await owner.get(after(invited))).html);
    expect((await new Visitor(kit.origin).get(link)).status).toBe(200);
    expect(linkIn((await owner.get(after(invited))).html)).toBe('');
    expect((await owner.get('/operators/staff')).html).toContain('Invited');
    const again = await invite('EVE@example.com');
    expect([again.status, again.html.includes('was invited already')]).toEqual([400, true]);
    const wrong = await invite('"><b>');
    expect([wrong.status, wrong.html.includes('This is not an e-mail address.')]).toEqual([400, true]);
    expect(wrong.html).not.toContain('"><b>');
    expect((await kit.acts()).at(-1)).toBe('root@example.com owner staff.invite');
  });

  test('change a role, end sessions, reset and disable, but never the last owner', async () => {
    const { kit, owner, admin, submit, pathOf, after } = await started();
    const ana = await pathOf('ana@example.com');
    const seen = async () => (await admin.get('/operators/upkeep')).status;
    expect((await submit(owner, ana, { act: 'role', role: 'owner' })).status).toBe(303);
    expect(await seen()).toBe(200);
    expect((await submit(owner, ana, { act: 'end_sessions' })).status).toBe(303);
    expect(await seen()).toBe(303);
    const reset = await submit(owner, ana, { act: 'reset' });
    expect(linkIn((await owner.get(after(reset))).html)).not.toBe('');
    expect((await submit(owner, ana, { act: 'disable' })).status).toBe(303);
    expect((await kit.acts()).slice(-4)).toEqual(
      ['role', 'end_sessions', 'reset', 'disable'].map((act) => `root@example.com owner staff.${act}`),
    );
    const root = await pathOf('root@example.com');
    for (const form of [{ act: 'disable' }, { act: 'role', role: 'viewer' }]) {
      const refused = await submit(owner, root, form);
      expect([refused.status, refused.html.includes('the last owner who can sign in')]).toEqual([400, true]);
    }
    expect((await owner.get('/operators/staff')).status).toBe(200);
  });
});
