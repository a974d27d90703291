import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { demoKeyFile } from '@ostiary/reference-server';
import { z } from 'zod';

const text = z.string();
const mode = z.enum(['live', 'test']);

const user = z.object({ handle: text, password: text, sub: text, kid: text, phone: text });

const client = z.object({
  clientId: text,
  /** Secret of the demo's OAuth client; `null` for a public client. */
  clientSecret: text.nullable(),
  redirectUris: z.array(text),
  allowedScopes: z.array(text),
});

const apiKey = z.object({
  /** Id of the demo's API key, for `ostiary keys revoke`. */
  id: text,
  mode,
  key: text,
  scopes: z.array(text),
  /** Slug (short name) of the demo's partner. */
  partner: text,
  signingSecret: text,
});

/**
 * Schema of a webhook endpoint of the shop. Its secret signs every delivery, and the partner API never
 * returns it again.
 */
const webhook = z.object({ mode, url: text, secret: text, id: text });

/** Owner of the pages for operators, who signs in with only a password in the demo. */
const operator = z.object({ email: text, password: text });

/** Schema of the demo data that the first start creates and later starts keep. */
const seeded = z.object({
  operator,
  users: z.array(user),
  clients: z.array(client),
  apiKeys: z.array(apiKey),
  webhooks: z.array(webhook),
});

export type DemoUser = z.output<typeof user>;
export type DemoClient = z.output<typeof client>;
export type DemoApiKey = z.output<typeof apiKey>;
export type DemoWebhook = z.output<typeof webhook>;
export type Seeded = z.output<typeof seeded>;

/** Content of `demo.json`: everything needed to try the demo, including passwords and secrets. */
export interface DemoFile extends Readonly<Seeded> {
  readonly authUrl: string;
  readonly baseUrl: string;
  /** Prefix of tokens and keys, which is also part of header names. */
  readonly prefix: string;
}

export const demoFilePath = (dataDir: string): string => join(dataDir, 'demo.json');

/** Returns the demo data of an earlier start, or `null` if there is none or it cannot be used. */
export async function readDemoFile(dataDir: string): Promise<Seeded | null> {
  try {
    return seeded.parse(JSON.parse(await readFile(demoFilePath(dataDir), 'utf8')));
  } catch {
    // The file is missing, incomplete, or not the demo's.
    return null;
  }
}

/** Writes a file atomically, readable only by its owner. */
async function writePrivately(path: string, content: string): Promise<void> {
  const aside = `${path}.${process.pid}.tmp`;
  await writeFile(aside, content, { mode: 0o600 });
  // The mode passed to `writeFile` does not apply to a leftover file.
  await chmod(aside, 0o600);
  await rename(aside, path);
}

export async function writeDemoFile(dataDir: string, file: DemoFile): Promise<void> {
  await writePrivately(demoFilePath(dataDir), `${JSON.stringify(file, null, 2)}\n`);
}

/** Returns the demo's sealing key. The first start generates it and stores it beside the database. */
export async function demoSealingKey(dataDir: string): Promise<string> {
  const path = join(dataDir, demoKeyFile);
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch {
    const key = randomBytes(32).toString('base64url');
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await writePrivately(path, `${key}\n`);
    return key;
  }
}
