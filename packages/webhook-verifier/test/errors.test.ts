import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { WebhookVerificationError, webhookErrorCodes } from '../src/index.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/webhook-verifier.md'), 'utf8');
const codesSection = page.slice(page.indexOf('## Codes'), page.indexOf('## Changing the secret'));

describe('errors', () => {
  it('have a name and a code to decide by', () => {
    const error = new WebhookVerificationError('weak_secret', 'why');
    expect(error).toBeInstanceOf(Error);
    expect([error.name, error.code, error.message]).toEqual([
      'WebhookVerificationError',
      'weak_secret',
      'why',
    ]);
  });

  it('are all in the documentation, and no others', () => {
    const documented = Array.from(codesSection.matchAll(/^\| (`.*?`) \|/gm), ([, cell = '']) => cell)
      .flatMap((cell) => cell.split(', '))
      .map((code) => code.replaceAll('`', ''));
    expect(documented.sort()).toEqual([...webhookErrorCodes].sort());
  });
});
