import { PassThrough } from 'node:stream';
import { escapeControls } from '@ostiary/core/internal';
import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { partnerProvider } from '../../core/test/support/partner-api.ts';
import { sampleApiKey, sampleEvent, samplePartner } from '../../testing/src/contract/partner-samples.ts';
import { sampleLink } from '../../testing/src/contract/portal-samples.ts';
import { now, sampleClient } from '../../testing/src/contract/samples.ts';
import { registered } from '../../testing/src/contract/webhook-samples.ts';
import { oneLine, styled, writerTo } from '../src/colour.ts';
import { administrationCommands, table } from '../src/index.ts';
import { metadata } from './import/samples.ts';
import { written } from './import/support.ts';
import { terminal } from './support.ts';

/**
 * A hostile text that clears the screen, sets a title, hides and reverses the text after it, and starts new
 * lines.
 */
const hostile =
  'evil\u001b[2J\u001b]0;t\u0007\u009b31m\u0085\u202e\u2066\u200b\u2028\u2029\u{e0041}\r\n\tFORGED\u007f\u001b[8m';

/** Matches characters that control a terminal or the layout of text, except for line breaks and joiners. */
const acting = /(?![\n\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/** Removes the colours that this program writes: sequences with one number of at most two digits. */
const withoutColours = (text: string): string =>
  text
    .split('\u001b[')
    .map((part, at) => {
      if (at === 0) return part;
      return /^[1-9]\d?m/.test(part) ? part.replace(/^\d+m/, '') : `\u001b[${part}`;
    })
    .join('');

/**
 * Creates a partner, a client, a key, an endpoint, an event with its delivery, a request and an audited act,
 * each with hostile text.
 */
async function stage() {
  const storage = memoryStorage();
  const made = await terminal(partnerProvider({ storage }));
  const owner = { partner: 'acme', mode: 'live' } as const;
  await storage.partners.insert(samplePartner({ name: hostile }));
  await storage.clients.insert(
    sampleClient({ name: hostile, redirectUris: [`https://a.example/${hostile}`] }),
  );
  await storage.apiKeys.insert(sampleApiKey('1', { name: hostile }));
  await storage.portal.insert(sampleLink('ps_1', { madeBy: hostile, expiresAt: 1e15 }));
  await registered(storage, '1', { url: `https://a.example/${hostile}` });
  const event = sampleEvent('1', { type: hostile, body: JSON.stringify({ data: { hostile } }) });
  await storage.events.publish([event], { idempotency: null, now });
  const request = { id: 'r-1', keyId: 'key_1', createdAt: now, durationMs: 1, method: 'POST', status: 400 };
  const texts = { route: hostile, code: hostile, sent: hostile, answered: hostile };
  await storage.requestLog.append([{ ...owner, ...request, ...texts }], 10);
  const { run } = made;
  const admin = made.provider.ostiary.admin.as(hostile);
  await admin.partners.create({ slug: 'other', name: 'Other' });
  return { ...made, run, storage };
}

/** Returns a command line for every command, and whether its output contains stored or foreign text. */
async function lines(): Promise<{
  readonly [command: string]: readonly [line: string, printsForeign: boolean];
}> {
  const client = { ...metadata, client_id: 'imported', scope: `openid ${'evil\u009b'}`, [hostile]: true };
  const file = await written([client]);
  return {
    'partners create': ['acme --name x', false],
    'partners list': ['', true],
    'partners show': ['acme', true],
    'partners rename': ['acme --name x', false],
    'partners disable': ['nobody', false],
    'partners enable': ['acme', false],
    'keys issue': ['acme --mode live --scope webhooks', false],
    'keys list': ['acme', true],
    'keys roll': ['key_1', false],
    'keys revoke': ['key_2', false],
    'portal link': ['acme --rights view', false],
    'portal list': ['acme', true],
    'portal end': ['acme ps_evil\u009b', true],
    'clients create': [`--name x --redirect-uri https://a.example/${'evil\u202e'} --scope openid`, true],
    'clients list': ['', true],
    'clients show': ['client-1', true],
    'clients update': ['client-1 --scope openid', true],
    'clients rotate-secret': ['client-1', true],
    'clients set-logo': ['client-1 evil\u009b.png', true],
    'clients disable': ['client-2', false],
    'clients enable': ['client-2', false],
    'signing-keys list': ['', false],
    'signing-keys rotate': ['', false],
    'endpoints list': ['acme --mode live', true],
    'endpoints disable': ['acme we_evil\u009b --mode live', true],
    'endpoints enable': ['acme we_evil\u009b --mode live', true],
    'endpoints remove': ['acme we_evil\u009b --mode live', true],
    'endpoints recover': ['acme we_evil\u009b --mode live --since 2020-01-01T00:00:00Z', true],
    'deliveries list': ['acme --mode live', true],
    'deliveries redeliver': ['acme evt_evil\u009b --mode live', true],
    'events list': ['acme --mode live', true],
    'payments list': ['acme --mode live', false],
    'payments show': ['acme tr_evil\u009b --mode live', true],
    'requests list': ['acme --mode live', true],
    'requests show': ['acme req_evil\u009b --mode live', true],
    trigger: ['acme evil\u009b', true],
    tail: ['acme --mode live --once --requests', true],
    export: ['acme --from 2026-01-01 --file /nowhere/evil\u009b.csv', true],
    'audit list': ['', true],
    'audit verify': ['', false],
    'access end': ['evil\u009b', false],
    migrate: ['', false],
    purge: ['', false],
    reseal: ['', false],
    import: [`--from oidc-provider --file ${file} --dry-run`, true],
  };
}

/** Makes a stream that pretends to be a terminal. */
function screen() {
  let text = '';
  const stream = Object.assign(new PassThrough(), { isTTY: true, getColorDepth: () => 24 });
  stream.on('data', (chunk) => {
    text += chunk;
  });
  return { stream, text: () => text };
}

describe('stored and foreign text', () => {
  it('never controls the terminal, in any command, as text, as JSON, or with colours', async () => {
    onTestFinished(() => void vi.unstubAllEnvs());
    vi.stubEnv('FORCE_COLOR', undefined);
    vi.stubEnv('NO_COLOR', undefined);
    const commands = await lines();
    expect(Object.keys(commands).sort()).toEqual(Object.keys(administrationCommands).sort());
    const { run } = await stage();
    for (const [command, [rest, printsForeign]] of Object.entries(commands)) {
      const line = `${command} ${rest} --yes`;
      const words = await run(line);
      expect(words.out + words.err, line).not.toMatch(acting);
      expect((words.out + words.err).includes('evil'), `${line}: ${words.out}${words.err}`).toBe(
        printsForeign,
      );
      expect(words.out + words.err, line).not.toMatch(/^\s*FORGED/m);
      const json = await run(`${line} --json`);
      expect(json.out + json.err, line).not.toMatch(acting);
      const [out, err] = [screen(), screen()];
      await run(line, { stdout: out.stream, stderr: err.stream });
      // A command that takes long shows its own progress on a line that it clears.
      const shown = (out.text() + err.text()).replaceAll('\r\u001b[K', '');
      expect(withoutColours(shown), line).not.toMatch(acting);
      expect(out.text() + err.text()).not.toContain('\u001b[8m');
    }
  });

  it('is unchanged in JSON', async () => {
    const { run } = await stage();
    const { out } = await run('partners list --json');
    const [acme] = JSON.parse(out).partners;
    expect(acme.name).toBe(hostile);
    const events = (await run('tail acme --mode live --once --json')).out.trim().split('\n');
    expect(events.map((line) => JSON.parse(line).type ?? JSON.parse(line).eventType)).toContain(hostile);
  });
});

describe('output', () => {
  const shown = (text: string) => {
    let out = '';
    writerTo({ write: (more) => (out += more) })(text);
    return out;
  };

  it('shows control characters by their numbers, and leaves letters of every language unchanged', () => {
    expect(escapeControls('a\u001b[1m\u009b\u202e\u{e0041}')).toBe('a\\u001b[1m\\u009b\\u202e\\udb40\\udc41');
    const letters = 'Zoë ጤና می‌خواهم 👩‍🌾 مرحبا 漢字';
    expect(escapeControls(letters)).toBe(letters);
    expect(shown(`a\n${hostile}`).split('\n')).toHaveLength(3);
  });

  it('has colours of this program only', () => {
    expect(shown(`${styled('red', 'a')} ${styled('bold', '\u001b[31mb')}`)).toBe('a \\u001b[31mb');
    const forged = styled('red', 'a').replaceAll(/\d{4}/g, '1234');
    expect(shown(forged)).toContain('\\u001b[1234');
  });

  it('aligns columns, with each cell in one line', () => {
    const rows = table([
      ['a\nb', 'x'],
      [styled('red', 'abcde'), 'y'],
    ]);
    expect(shown(rows)).toBe('a\\u000ab  x\nabcde     y');
    expect(oneLine('a\tb')).toBe('a\\u0009b');
  });
});
