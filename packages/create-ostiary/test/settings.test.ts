import { expect, it, vi } from 'vitest';

/** Reads the settings of an app with the given `AUTH_URL`. */
async function settingsFor(authUrl: string) {
  vi.stubEnv('AUTH_URL', authUrl);
  vi.resetModules();
  return await import('../templates/shared/src/settings.ts');
}

it.each([
  'http://localhost:3000',
  'http://app.localhost:3000',
  'http://127.0.0.1:3000',
  'http://127.9.8.7',
  'http://[::1]:3000',
])('an app at %s has demo users', async (authUrl) => {
  expect((await settingsFor(authUrl)).isPublic).toBe(false);
});

it.each([
  'https://id.example',
  'https://127.example.com',
  'https://127.0.0.1.example.com',
  'https://localhost.example.com',
  'https://notlocalhost',
  'http://192.168.0.10:3000',
])('an app at %s has no demo users', async (authUrl) => {
  expect((await settingsFor(authUrl)).isPublic).toBe(true);
});
