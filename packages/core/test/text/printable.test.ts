import { describe, expect, it } from 'vitest';
import { printable, printableUrl } from '../../src/text/printable.ts';

describe('what a caller chose, in the log', () => {
  it('keeps the characters of addresses, and shows everything else by its number', () => {
    const address = 'https://[::1]:80/aZ0-._~%C3%A9!$&()*+,;=@?a[]=b#c';
    expect(printable(address)).toBe(address);
    expect(printable('a\nb\r\tc\u0000\u001b[31m ')).toBe('a\\u000ab\\u000d\\u0009c\\u0000\\u001b[31m\\u0020');
    expect(printable('<i>"\'`\\u{41}')).toBe('\\u003ci\\u003e\\u0022\\u0027\\u0060\\u005cu\\u007b41\\u007d');
    expect(printable('\u202egpj\u200b\u2028\u00a0')).toBe('\\u202egpj\\u200b\\u2028\\u00a0');
    expect(printable('\u0430pp \u{1f600} \ud800')).toBe('\\u0430pp\\u0020\\ud83d\\ude00\\u0020\\ud800');
  });

  it('has a limited length, with any characters', () => {
    expect(printable('x'.repeat(200))).toBe('x'.repeat(200));
    expect(printable('x'.repeat(201))).toBe(`${'x'.repeat(200)}... (201 characters)`);
    expect(printable('\u202e'.repeat(100_000)).length).toBeLessThan(2_000);
  });
});

it.each([
  ['https://app.example:443/Callback/', 'https://app.example:443/Callback/'],
  ['com.example.app:/cb', 'com.example.app:/cb'],
  ['https://app.example/cb#access_token=SECRET?x', 'https://app.example/cb#...'],
  ['https://app.example/cb?a=SECRET#SECRET', 'https://app.example/cb?a=...#...'],
  ['https://ana:SECRET@app.example/', 'https://...@app.example/'],
  ['https://app.example/cb?', 'https://app.example/cb?'],
  ['https://app.example/\u202ecb', 'https://app.example/\\u202ecb'],
  ['https://app.example/cb?\n=SECRET', 'https://app.example/cb?\\u000a=...'],
])('an address that a caller chose, in the log %j is shown as %s', (address, shown) => {
  expect(printableUrl(address)).toBe(shown);
});
