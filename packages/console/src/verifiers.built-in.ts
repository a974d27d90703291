import { readFileSync } from 'node:fs';

const names = [
  'express',
  'nextjs',
  'fastify',
  'hono',
  'python',
  'go',
  'php',
  'ruby',
  'java',
  'rust',
] as const;

/**
 * Source code of the webhook verifiers that partners copy, by name. Each is also a code block of
 * `docs/webhook-verifier.md` or `docs/webhook-verifier-languages.md`, which a test compares. A build contains
 * the sources (`scripts/built-in-modules.ts`).
 */
export const verifierSources = Object.fromEntries(
  names.map((name) => [name, readFileSync(new URL(`../verifiers/${name}.txt`, import.meta.url), 'utf8')]),
) as Readonly<Record<(typeof names)[number], string>>;
