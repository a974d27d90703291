/**
 * Returns the Base64 of a text at an offset within a longer text: only the characters that do not depend on
 * the neighbouring text.
 */
function base64Within(bytes: Buffer, offset: number): string {
  const padded = Buffer.concat([Buffer.alloc(offset), bytes])
    .toString('base64')
    .replace(/=+$/, '');
  const end = (offset + bytes.length) % 3 === 0 ? padded.length : padded.length - 1;
  return padded.slice(Math.ceil((offset * 8) / 6), end);
}

function spellingsOfBytes(what: string, bytes: Buffer): [string, Buffer][] {
  const hex = bytes.toString('hex');
  const base64 = [0, 1, 2].flatMap((offset): [string, Buffer][] => {
    const text = base64Within(bytes, offset);
    return [
      [`base64 of ${what}, at ${offset}`, Buffer.from(text)],
      [`base64url of ${what}, at ${offset}`, Buffer.from(text.replaceAll('+', '-').replaceAll('/', '_'))],
    ];
  });
  return [
    [what, bytes],
    [`hex of ${what}`, Buffer.from(hex)],
    [`upper-case hex of ${what}`, Buffer.from(hex.toUpperCase())],
    ...base64,
  ];
}

/** Returns all spellings that a secret may have in a file or in printed text. */
export function spellingsOf(secret: string): [string, Buffer][] {
  const percent = (text: string): string =>
    text.replaceAll(/[^A-Za-z0-9]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  return [
    ...spellingsOfBytes('the text', Buffer.from(secret)),
    ...(/^[\w-]+$/.test(secret) ? spellingsOfBytes('the bytes', Buffer.from(secret, 'base64url')) : []),
    ['UTF-16', Buffer.from(secret, 'utf16le')],
    ['URL-encoded', Buffer.from(encodeURIComponent(secret))],
    ['every character URL-encoded', Buffer.from(percent(secret))],
    ['JSON', Buffer.from(JSON.stringify(secret).slice(1, -1))],
  ];
}
