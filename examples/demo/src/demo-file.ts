import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { demoKeyFile } from '@ostiary/reference-server';

/** What `demo.json` holds: everything that one needs to try the demo, passwords and secrets included. */
export interface DemoFile {
  readonly authUrl: string;
  readonly baseUrl: string;
  /** What tokens and keys begin with, and the middle of header names. */
  readonly prefix: string;
  readonly users: readonly DemoUser[];
  readonly clients: readonly DemoClient[];
  readonly apiKeys: readonly DemoApiKey[];
  readonly webhooks: readonly DemoWebhook[];
}

/** What a start seeds and the next one keeps. */
export type Seeded = Pick<DemoFile, 'users' | 'clients' | 'apiKeys' | 'webhooks'>;

export interface DemoUser {
  readonly handle: string;
  readonly password: string;
  readonly sub: string;
  readonly kid: string;
  readonly phone: string;
}

export interface DemoClient {
  readonly clientId: string;
  /** `null` for a public client. */
  readonly clientSecret: string | null;
  readonly redirectUris: readonly string[];
  readonly allowedScopes: readonly string[];
}

export interface DemoApiKey {
  /** Names the key for `ostiary keys revoke`. */
  readonly id: string;
  readonly mode: 'live' | 'test';
  readonly key: string;
  readonly scopes: readonly string[];
  /** Slug. */
  readonly partner: string;
  readonly signingSecret: string;
}

/** An endpoint of the shop. */
export interface DemoWebhook {
  readonly mode: 'live' | 'test';
  readonly url: string;
  /** Signs every delivery; the partner API never shows it again. */
  readonly secret: string;
  /** `we_…` */
  readonly id: string;
}

export function demoFilePath(dataDir: string): string {
  return join(dataDir, 'demo.json');
}

function hasText<Key extends string>(value: object, ...keys: readonly Key[]): value is Record<Key, string> {
  return keys.every((key) => key in value && typeof (value as Record<string, unknown>)[key] === 'string');
}

function isUser(value: unknown): value is DemoUser {
  return (
    typeof value === 'object' && value !== null && hasText(value, 'handle', 'password', 'sub', 'kid', 'phone')
  );
}

function isClient(value: unknown): value is DemoClient {
  return (
    typeof value === 'object' &&
    value !== null &&
    hasText(value, 'clientId') &&
    'clientSecret' in value &&
    (value.clientSecret === null || typeof value.clientSecret === 'string')
  );
}

function isApiKey(value: unknown): value is DemoApiKey {
  return (
    typeof value === 'object' &&
    value !== null &&
    hasText(value, 'id', 'mode', 'key', 'partner', 'signingSecret') &&
    'scopes' in value &&
    Array.isArray(value.scopes)
  );
}

function isWebhook(value: unknown): value is DemoWebhook {
  return typeof value === 'object' && value !== null && hasText(value, 'mode', 'url', 'secret', 'id');
}

/** What an earlier start wrote down, or `null` when there is nothing that can be used. */
export async function readDemoFile(dataDir: string): Promise<Seeded | null> {
  try {
    const file: unknown = JSON.parse(await readFile(demoFilePath(dataDir), 'utf8'));
    if (typeof file !== 'object' || file === null || !('users' in file) || !('clients' in file)) return null;
    const { users, clients } = file;
    if (!Array.isArray(users) || !Array.isArray(clients)) return null;
    // Files of the time before the partner API have no keys, and older ones no webhooks.
    const apiKeys = 'apiKeys' in file && Array.isArray(file.apiKeys) ? file.apiKeys : [];
    const webhooks = 'webhooks' in file && Array.isArray(file.webhooks) ? file.webhooks : [];
    return {
      users: users.filter(isUser),
      clients: clients.filter(isClient),
      apiKeys: apiKeys.filter(isApiKey),
      webhooks: webhooks.filter(isWebhook),
    };
  } catch {
    // No file, half a file, somebody else's file: the demo makes a new one.
    return null;
  }
}

/** Writes a file that only its owner reads, whole or not at all. */
async function writePrivately(path: string, content: string): Promise<void> {
  const aside = `${path}.${process.pid}.tmp`;
  await writeFile(aside, content, { mode: 0o600 });
  // The mode of `writeFile` does not apply to a file that was left behind.
  await chmod(aside, 0o600);
  await rename(aside, path);
}

export async function writeDemoFile(dataDir: string, file: DemoFile): Promise<void> {
  await writePrivately(demoFilePath(dataDir), `${JSON.stringify(file, null, 2)}\n`);
}

/** The sealing key of the demo: generated on the first start, kept beside the database. */
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
