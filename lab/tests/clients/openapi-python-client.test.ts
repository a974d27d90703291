import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, it } from 'vitest';
import { generatedFolder, subject } from './support/generated.ts';
import { type Installed, inPlace, installed, openapiPythonClient } from './support/python-packages.ts';

const script = fileURLToPath(new URL('support/every_operation.py', import.meta.url));

let client: Installed;
beforeAll(async () => {
  client = await installed(openapiPythonClient);
});

it('openapi-python-client makes a client of the description, with which every operation is called', async (context) => {
  if ('missing' in client) {
    // Print the reason for the skip, which the reporter leaves out.
    console.warn(`not tested: ${client.missing}`);
    return context.skip(client.missing);
  }
  const { bin } = client;
  const { document, operations, baseUrl, apiKey, hook, day, deliver } = await subject();
  const folder = generatedFolder('openapi-python-client');
  const file = join(folder, 'openapi.json');
  writeFileSync(file, document);
  const output = join(folder, 'ostiary_api');
  const said = await inPlace(bin, 'openapi-python-client', [
    ...['generate', '--path', file, '--output-path', output],
    ...['--meta', 'none', '--fail-on-warning'],
  ]);
  expect(said.trim()).toMatch(/^Generating \S*ostiary_api$/);
  // One operation waits for a delivery.
  const delivering = setInterval(() => void deliver(), 100);
  const run = inPlace(bin, 'python', [script, baseUrl, apiKey, hook, day], { env: { PYTHONPATH: folder } });
  const printed = await run.finally(() => clearInterval(delivering));
  const came = JSON.parse(printed) as Record<string, readonly [status: number, type: string]>;
  expect(Object.keys(came).sort()).toEqual(operations.toSorted());
  for (const [operation, [status, type]] of Object.entries(came)) {
    expect([operation, status < 300]).toEqual([operation, true]);
    expect([operation, /^(NoneType|Error)$/.test(type)]).toEqual([operation, false]);
  }
});
