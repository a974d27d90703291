import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { descriptionOf, operationsOf } from '../../../packages/core/test/support/openapi.ts';
import { partnerProvider } from '../../../packages/core/test/support/partner-api.ts';
import type { Json } from '../../../packages/core/test/support/provider.ts';
import { sink } from '../../../packages/core/test/webhooks/support/sink.ts';
import { textOf } from '../../support/documentation.ts';
import { generatedFolder } from '../clients/support/generated.ts';

const run = promisify(execFile);
const page = textOf('docs/reference/partner-endpoints.md');

/** Returns the code on the API reference page by operation, in one programming language. */
function programsIn(language: string): ReadonlyMap<string, string> {
  const sections = page.split(/^### /m).slice(1);
  return new Map(
    sections.flatMap((section) => {
      const [, code] = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(section) ?? [];
      return code === undefined ? [] : [[section.split('\n', 1)[0] ?? '', code] as const];
    }),
  );
}

/**
 * Starts a service with the objects that the API reference page names. Their values replace the examples of
 * the page.
 */
async function subject() {
  const { provider } = await partnerProvider({ webhooks: { allowPrivateTargets: true } });
  const { url } = await sink();

  /** Returns a function that puts the values of a new partner into the code of an API operation. */
  async function reader() {
    const key = await provider.key({ mode: 'test' });
    const call = async (target: string, body?: Json): Promise<Json> =>
      (await provider.partnerCall(key, target, body)).json();
    const secret = 'whsec_0123456789abcdef';
    const endpoint = async (to: string, events = ['*']): Promise<string> =>
      String((await call('POST /v1/partner/webhooks', { url: to, events, secret })).id);
    const payment = { amount: '125.00', currency: 'HTG', recipient: { kid: 'KID-TEST-APPROVED' } };
    const transfer = String((await call('POST /v1/partner/payments', payment)).id);
    const event = String((await call('POST /v1/partner/sandbox/events', { type: 'webhook.test' })).id);
    const passport = String((await call('POST /v1/partner/sandbox/passports', {})).token);
    const [kept, removed] = [await endpoint(url), await endpoint(url)];
    // A type of its own, because each request to this endpoint waits for the answer of a program.
    const listening = await endpoint('inbox:listen', ['kyc.updated']);
    const requests: { readonly id: string }[] = [];
    // An attempt fails if it begins before the call that takes its request.
    while (requests.length === 0) {
      const taking = call(`POST /v1/partner/webhooks/${listening}/take`, { waitSeconds: 5 });
      await call('POST /v1/partner/sandbox/events', { type: 'kyc.updated' });
      requests.push(...((await taking).data as typeof requests));
    }
    const endpoints: Readonly<Record<string, string>> = {
      deleteWebhook: removed,
      takeInboxRequests: listening,
    };
    const own = (operation: string, code: string): string =>
      code
        .replaceAll('https://api.example.com', provider.origin)
        .replaceAll('https://partner.example.com/webhooks', url)
        .replaceAll(/\btr_\w+/g, transfer)
        .replaceAll(/\bevt_\w+/g, event)
        .replaceAll(/\bin_[0-9a-f]{32}/g, String(requests[0]?.id))
        .replaceAll(/\bwe_\w+/g, endpoints[operation] ?? kept)
        .replaceAll(/\beyJ[\w.-]+/g, passport)
        // Do not wait for a request, because none has to arrive during the call.
        .replace(/(?<=waitSeconds\W+)20/, '0');
    return { own, env: { ...process.env, no_proxy: '*', OSTIARY_API_KEY: key.key } };
  }
  return { provider, reader };
}

it('runs the code of every operation in curl, Node and Python against a real service', async (context) => {
  const { provider, reader } = await subject();
  const operations = operationsOf(await descriptionOf(provider)).map(
    ({ operation }) => operation.operationId,
  );
  // Some operations wait for a delivery.
  const delivering = setInterval(() => void provider.ostiary.worker.runDue(), 100);
  context.onTestFinished(() => clearInterval(delivering));
  const folder = generatedFolder('api-reference');

  /**
   * Runs the code samples of all API operations in one language, in one process. @returns a line for each
   * failure, with the name of the operation
   */
  async function failures(
    language: string,
    ending: string,
    main: string,
    command: readonly [string, ...string[]],
  ) {
    const { own, env } = await reader();
    const programs = programsIn(language);
    expect([...programs.keys()].toSorted()).toEqual(operations.toSorted());
    for (const [operation, code] of programs)
      writeFileSync(join(folder, `${operation}.${ending}`), own(operation, code));
    writeFileSync(join(folder, `all.${ending}`), main);
    const [program, ...args] = command;
    const { stdout } = await run(program, [...args, `all.${ending}`], { cwd: folder, env });
    const said = stdout.split('\n').filter((line) => line.startsWith('failed '));
    expect(stdout).toContain('all done');
    return said;
  }
  const names = operations.join(' ');
  const inShell = `curl() { command curl --silent --show-error --fail-with-body "$@"; }
for name in ${names}; do said=$(. "./$name.sh" 2>&1) || echo "failed $name: $said"; done
echo 'all done'
`;
  const inNode = `const { log } = console;
console.log = () => {};
for (const name of ${JSON.stringify(operations)})
  await import(\`./\${name}.mjs\`).catch((error) => log('failed', name, String(error)));
log('all done');
`;
  const inPython = `import contextlib, io, runpy
for name in ${JSON.stringify(operations)}:
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            runpy.run_path(f"{name}.py")
    except Exception as error:
        print("failed", name, error)
print("all done")
`;
  const node = [process.execPath, '--conditions=ostiary-source'] as const;
  expect(await failures('bash', 'sh', inShell, ['bash'])).toEqual([]);
  expect(await failures('ts', 'mjs', inNode, [...node])).toEqual([]);
  expect(await failures('python', 'py', inPython, [process.env.TEST_PYTHON ?? 'python3'])).toEqual([]);
});

it('links to each operation and each object by its name', () => {
  const headings = Array.from(page.matchAll(/^#{2,3} (.+)$/gm), ([, heading = '']) => heading.toLowerCase());
  expect(new Set(headings).size).toBe(headings.length);
  expect(page).toContain('### createPayment\n');
  expect(page).toContain('](#createpayment)');
});
