import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { webhookErrorCodes } from '../src/index.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/webhook-verifier.md'), 'utf8');
const codesSection = page.slice(page.indexOf('## Codes'), page.indexOf('## Changing the secret'));

describe('errors', () => {
  it('are all in the documentation, and no others', () => {
    const documented = Array.from(codesSection.matchAll(/^\| (`.*?`) \|/gm), ([, cell = '']) => cell)
      .flatMap((cell) => cell.split(', '))
      .map((code) => code.replaceAll('`', ''));
    expect(documented.sort()).toEqual([...webhookErrorCodes].sort());
  });
});
