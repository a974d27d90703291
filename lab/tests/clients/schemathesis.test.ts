import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { partnerProvider } from '../../../packages/core/test/support/partner-api.ts';
import { generatedFolder } from './support/generated.ts';
import { type Installed, inPlace, installed, schemathesis } from './support/python-packages.ts';

const support = fileURLToPath(new URL('support/', import.meta.url));

/** Checks of Schemathesis that hold for every response to any request. */
const always = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
];

let tool: Installed;
beforeAll(async () => {
  tool = await installed(schemathesis);
});

/**
 * Runs Schemathesis (an API fuzzer) against a real server, or skips the test if Schemathesis is not
 * installed. @returns the report
 */
async function report(
  context: TestContext,
  mode: 'positive' | 'negative',
  {
    checks,
    args,
    hooks,
  }: { readonly checks: readonly string[]; readonly args: readonly string[]; readonly hooks: boolean },
): Promise<string> {
  if ('missing' in tool) {
    // Print the reason for the skip, which the reporter leaves out.
    console.warn(`not tested: ${tool.missing}`);
    return context.skip(tool.missing);
  }
  // Makes all external host names resolve.
  const { provider } = await partnerProvider({ webhooks: { resolve: async () => ['93.184.216.34'] } });
  const { key } = await provider.key({ mode: 'test' });
  const made = async (path: string, body: object) =>
    (await provider.partnerCall(key, `POST /v1/partner/sandbox/${path}`, body)).json();
  const { token } = await made('passports', {});
  const { id } = await made('events', { type: 'webhook.test' });
  const listened = await provider.partnerCall(key, 'POST /v1/partner/webhooks', {
    ...{ url: 'inbox:listen', events: ['webhook.test'], secret: 'whsec_0123456789abcdef' },
  });
  const cwd = generatedFolder('schemathesis');
  const all = [
    ...['run', `${provider.origin}/v1/openapi.json`, '--header', `X-API-Key: ${key}`, '--no-color'],
    // Send the same requests every time. U+0000 is refused in every text, because not every database can
    // store it.
    ...['--mode', mode, '--seed', '1', '--generation-database', 'none', '--generation-allow-x00', 'false'],
    ...['--checks', [...always, ...checks].join(','), '--continue-on-failure', ...args],
  ];
  const env = {
    ...{ PASSPORT: String(token), EVENT: String(id), LISTENED: String(listened.json().id) },
    ...{ PYTHONPATH: support, PYTHONDONTWRITEBYTECODE: '1' },
    ...(hooks && { SCHEMATHESIS_HOOKS: 'schemathesis_rules' }),
  };
  try {
    return await inPlace(tool.bin, 'st', all, { env, cwd });
  } catch (error) {
    const { stdout } = error as { readonly stdout?: string };
    return stdout === undefined || stdout === '' ? String(error) : stdout;
  }
}

/** Matches a Schemathesis report in which every operation was tested, with enough requests that passed. */
const clean = /Tested: 23\n[\s\S]*\n {2}\d{3,} generated, \d{3,} passed/;

describe('Schemathesis', () => {
  it('finds no request that the description allows and the server refuses', async (context) => {
    const said = await report(context, 'positive', {
      checks: ['positive_data_acceptance'],
      args: [
        '--phases',
        'examples,coverage,fuzzing',
        '--max-examples',
        '15',
        '--generation-with-security-parameters',
        'false',
      ],
      hooks: true,
    });
    expect(said).toMatch(clean);
    expect(said).not.toMatch(/failure|⚠️/);
  });

  it('finds no request that the description forbids and the server takes', async (context) => {
    const said = await report(context, 'negative', {
      checks: ['negative_data_rejection', 'unsupported_method', 'ignored_auth'],
      args: ['--phases', 'coverage,fuzzing', '--max-examples', '4'],
      hooks: false,
    });
    expect(said).toMatch(clean);
    expect(said).not.toMatch(/failure/);
  });
});
