import { expect, it } from 'vitest';
import { textOf } from './support/pages.ts';

/** Where a partner reads what to do about signed requests that somebody sends again. */
const pages: readonly (readonly [page: string, begins: RegExp])[] = [
  ['SECURITY.md', /^- \*\*Request signatures\*\*/],
  ['docs/partner-api.md', /^\*\*Put a `reference` into every signed payment/],
  ['packages/client-sdk/README.md', /^The signature covers the body/],
  ['packages/client-sdk/src/options.ts', /^ {2}\/\*\*\n {3}\* Signs every request with a body/m],
];

it.each(pages)('%s recommends a reference against repeated signed bodies, and no header', (page, begins) => {
  const paragraph = textOf(page)
    .split(/\n\n|\n(?=- )/)
    .find((text) => begins.test(text));
  expect(paragraph).toMatch(/(?:give every payment a|Put a) `reference`/i);
  // Where the key is named, it is said that it is not signed.
  expect(paragraph?.replace(/\s+/g, ' ')).toMatch(
    /`Idempotency-Key` (?:does not help here: it is a header|is for your own retries and no protection|is a header and not signed|is not signed)/,
  );
});
