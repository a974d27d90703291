import { describe, expect, it } from 'vitest';

import { against } from '../support/partner.ts';

const description = 'Pò a, 薪水, 😀';
const bytes = Buffer.from(JSON.stringify({ id: 'tr_1', description }));

describe('an answer', () => {
  it.each([
    ['at once', bytes.length],
    ['in parts that end in the middle of a character', 3],
    ['byte by byte', 1],
  ])('that comes %s is read as it was sent', async (_name, size) => {
    const { ostiary } = await against([
      async (response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'req-1' });
        for (let start = 0; start < bytes.length; start += size) {
          await new Promise((written) => response.write(bytes.subarray(start, start + size), written));
          // So that the parts arrive as parts.
          await new Promise((turn) => setImmediate(turn));
        }
        response.end();
      },
    ]);
    const { data, response } = await ostiary.payments.retrieve('tr_1').withResponse();
    expect(data.description).toBe(description);
    expect(response.text).toBe(bytes.toString());
  });
});
