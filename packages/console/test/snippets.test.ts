import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { ConsoleBackend } from '@ostiary/core/console';
import { render } from '@ostiary/core/pages';
import ts from 'typescript';
import { beforeAll, describe, expect, it } from 'vitest';
import { compilerErrors } from '../../../lab/support/compiler-errors.ts';
import { afterwards } from '../../core/test/support/running.ts';
import english from '../languages/en.json' with { type: 'json' };
import { sandboxConsole } from '../src/index.ts';
import { curlOf, quoted, sdkCodeOf, snippet } from '../src/snippets.ts';
import { consoleKit } from './console-kit.ts';

const hostile = [
  "it's \"quoted\" 'twice' ''",
  '$HOME "$HOME" $(id) `id` \\$ \\\\ \\n',
  'two\nlines\r\n\ttab\n',
  '; rm -rf / & | > /tmp/x < y # z',
  '!history * ? [a] {b,c} ~ %s %%',
  '-n --data @/etc/passwd',
  'é 🗝️ \u202e\u2028',
  '',
];

/** Returns the words that a shell script prints, each with U+0000 at its end. */
const wordsOf = (shell: string, script: string): string[] =>
  execFileSync(shell, ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1);

describe('text in a shell', () => {
  it.each(['sh', 'bash'])('is one word for %s with any content', (shell) => {
    const script = `printf '%s\\0' ${hostile.map(quoted).join(' ')}`;
    expect(wordsOf(shell, script)).toEqual(hostile);
  });
});

/** Starts a server that records its requests. */
async function receiver() {
  const received: { method: string; url: string; headers: string[]; body: string }[] = [];
  const server = createServer(async (request, response) => {
    const body = (await buffer(request)).toString('utf8');
    const { method = '', url = '', rawHeaders: headers } = request;
    received.push({ method, url, headers, body });
    response.end();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  afterwards(() => void server.closeAllConnections());
  afterwards(() => void server.close());
  const address = server.address();
  return { received, origin: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}` };
}

/** Runs a curl command in another process, so that a server in this process can respond to its request. */
async function run(script: string): Promise<void> {
  const { spawn } = await import('node:child_process');
  const child = spawn('sh', ['-c', script], {
    env: { ...process.env, no_proxy: '*' },
    stdio: 'ignore',
  });
  expect(await new Promise((ended) => child.once('close', ended))).toBe(0);
}

describe('a command of curl', () => {
  it('sends a request as it was sent: URL, headers and body', async () => {
    const { received, origin } = await receiver();
    const body = JSON.stringify({ data: hostile.join('|') });
    const url = `${origin}/hook/%C3%A9?q=[1-3]&x={a,b}&y='$HOME'`;
    const headers = [
      ['host', new URL(origin).host],
      ['connection', 'keep-alive'],
      ['user-agent', 'Ostiary-Webhooks/1'],
      ['accept', '*/*'],
      ['Content-Type', 'application/json'],
      ['X-Svc-Event', 'a.b $HOME `id` "\''],
      ['content-length', String(Buffer.byteLength(body))],
    ] as const;
    await run(curlOf({ method: 'POST', url, headers, body }));
    const [request] = received;
    expect(request).toMatchObject({ method: 'POST', url: url.slice(origin.length), body });
    const sent = new Map(
      Array.from({ length: (request?.headers.length ?? 0) / 2 }, (_, index) => [
        request?.headers[2 * index]?.toLowerCase(),
        request?.headers[2 * index + 1],
      ]),
    );
    for (const [name, value] of headers.filter(([name]) => name !== 'connection')) {
      expect.soft([name, sent.get(name.toLowerCase())]).toEqual([name, value]);
    }
    expect(sent.size).toBe(headers.length - 1);
  });
});

/** Options with which programs compile whose imports are modules of this repository. */
const compilerOptions: ts.CompilerOptions = {
  ...{ strict: true, noEmit: true, skipLibCheck: true, types: ['node'] },
  ...{
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    customConditions: ['ostiary-source'],
  },
  ...{ allowImportingTsExtensions: true, moduleResolution: ts.ModuleResolutionKind.NodeNext },
};

describe('code with the SDK', () => {
  let backend: ConsoleBackend;
  beforeAll(async () => {
    const pagesOf = (given: ConsoleBackend) => {
      backend = given;
      return sandboxConsole().pages(given);
    };
    await consoleKit({ console: { ...sandboxConsole(), pages: pagesOf } });
  });
  const payment = {
    amount: '1.00',
    currency: 'HTG',
    recipient: { kid: 'KID-ANA' },
    metadata: { __proto__: 'x' },
  };
  const calls: [string, unknown][] = [
    ['verifyPassport', { token: '[removed]' }],
    ['createPayment', payment],
    ['listPayments', null],
    ['getPayment', null],
    ['getUserByPhone', null],
    ['getUser', null],
    ['findUser', null],
    ['createWebhook', { url: 'https://a.example/', events: ['*'], secret: '[removed]' }],
    ['listWebhooks', null],
    ['getWebhook', null],
    ['updateWebhook', { enabled: false }],
    ['deleteWebhook', null],
    ['listDeliveries', null],
    ['recoverWebhook', { since: '2026-01-01T00:00:00Z' }],
    ['listEvents', null],
    ['redeliverEvent', {}],
    ['redeliverEvent', { endpointId: 'we_1' }],
    ['createSandboxEvent', { type: 'a.b', data: { text: hostile.join('|') } }],
    ['createSandboxPassport', { kid: 'KID-TEST-APPROVED' }],
    ['createSandboxPassport', null],
    ['listInboxRequests', null],
    ['takeInboxRequests', { waitSeconds: 20 }],
    ['answerInboxRequest', { httpStatus: 200, response: 'ok' }],
    ['whoami', null],
  ];

  it('fits the SDK, for every call that it has', { timeout: 120_000 }, () => {
    const operations = backend.routes.filter(({ sdk }) => sdk !== null).map(({ operation }) => operation);
    expect(new Set(calls.map(([operation]) => operation))).toEqual(new Set(operations));
    const programs = calls.flatMap(([operation, body]) =>
      [null, "it's `id`"].map((id) => sdkCodeOf(backend, { operation, id, body }) ?? `no ${operation}`),
    );
    const pathOf = (name: string) => join(import.meta.dirname, `${name}.mts`);
    const files = new Map(programs.map((program, index) => [pathOf(`snippet-${index}`), program]));
    files.set(pathOf('wrong'), `${programs[0]}ostiary.nothing();`);
    expect(compilerErrors(files, compilerOptions)).toEqual({
      [pathOf('wrong')]: [expect.stringContaining("'nothing' does not exist")],
    });
    for (const program of programs) expect(program).toContain('process.env.OSTIARY_API_KEY');
  });

  it('contains no method that does not exist, and keeps members unchanged', () => {
    expect(sdkCodeOf(backend, { operation: 'exportReconciliation', id: null, body: null })).toBeNull();
    for (const operation of ['constructor', '__proto__']) {
      expect(() => sdkCodeOf(backend, { operation, id: null, body: null })).toThrow('there is no operation');
    }
    const body = JSON.parse('{"__proto__":{"a":1},"b":"\\n  \\"__proto__\\":"}');
    const code = sdkCodeOf(backend, { operation: 'createPayment', id: null, body }) ?? '';
    const literal = /create\((.*)\)\)/s.exec(code)?.[1] ?? '';
    expect(JSON.stringify(new Function(`return ${literal}`)())).toBe(JSON.stringify(body));
  });
});

describe('text to copy', () => {
  const voice = { language: 'en', words: english } as const;
  it('is escaped, and copied unchanged even if it cannot be shown', () => {
    const hidden = '</pre><script>alert(1)</script>\u202e\u007f\u0085';
    const markup = render(snippet(voice, 'A title', hidden));
    expect(markup).not.toContain('<script');
    expect(decodeURIComponent(/data-copy="([^"]*)"/.exec(markup)?.[1] ?? '')).toBe(hidden);
    expect(markup).toContain('&lt;/script&gt;\ufffd\ufffd\ufffd</pre>');
    expect(render(snippet(voice, 'A title', 'a\n\tb'))).toMatch(/data-copy="" data-done="Copied\."/);
  });
});
