import { parse as parseArray } from 'postgres-array';

type Parser = (text: string) => unknown;

/**
 * Parses a value of the type `bytea` in the session's `bytea_output` format: `hex`, or `escape` if the host
 * application has set it.
 */
function parseBytes(text: string): Buffer {
  if (text.startsWith('\\x')) return Buffer.from(text.slice(2), 'hex');
  const raw = text.replaceAll(/\\(\\|[0-7]{3})/g, (_match, code: string) =>
    code === '\\' ? code : String.fromCharCode(Number.parseInt(code, 8)),
  );
  return Buffer.from(raw, 'latin1');
}

const parseBoolean = (text: string): boolean => text === 't';
const parseJson = (text: string): unknown => JSON.parse(text);
const parseText = (text: string): string => text;

/** Parsers by the OID of a PostgreSQL type (pg_type). All other types are read as text. */
const parsers: ReadonlyMap<number, Parser> = new Map<number, Parser>([
  [16, parseBoolean],
  [17, parseBytes],
  // int8, int2, int4, oid, float4, float8
  ...[20, 21, 23, 26, 700, 701].map((oid) => [oid, Number] as const),
  // json, jsonb
  [114, parseJson],
  [3802, parseJson],
  // Arrays of bool and bytea; of int2, int4 and int8; of text and varchar.
  [1000, (text) => parseArray(text, parseBoolean)],
  [1001, (text) => parseArray(text, parseBytes)],
  ...[1005, 1007, 1016].map((oid) => [oid, (text: string) => parseArray(text, Number)] as const),
  ...[1009, 1015].map((oid) => [oid, (text: string) => parseArray(text)] as const),
]);

/**
 * Parsers that read values as Ostiary's statements expect them. They ignore `pg.types`, which the whole
 * process shares and hosts change. Booleans become booleans, integers (`bigint` too) and floating-point
 * numbers become numbers, `bytea` a Buffer, JSON is parsed, arrays of booleans, integers, `bytea` and text
 * become arrays, and everything else, such as `numeric`, is text. Pass this as `types` of a query or of a
 * client of `pg`.
 */
export const postgresTypes = {
  getTypeParser: (oid: number, format: 'text' | 'binary' = 'text'): Parser => {
    if (format === 'binary')
      throw new TypeError('a client of pg with the option binary cannot be used: leave that option out');
    return parsers.get(oid) ?? parseText;
  },
};
