import type { Ostiary } from '@ostiary/core';
import { me } from './api.ts';
import { provisionDemoClient } from './demo-client.ts';
import { homePage, loginPage, signIn } from './login.ts';
import { openOstiary } from './ostiary.ts';

const withPages = (ostiary: Ostiary) => ({ ostiary, homePage, loginPage, signIn, me });

async function open() {
  const ostiary = await openOstiary();
  await provisionDemoClient(ostiary);
  ostiary.worker.start(); // removes old rows
  return withPages(ostiary);
}

const kept = globalThis as { instance?: ReturnType<typeof open> };

/**
 * Everything that lives as long as the process. Next.js gives each route a copy of these modules, so the first one that asks
 * opens it for all: there is one Ostiary and one list of sessions. It also loads routes while it builds, where there is no
 * database.
 */
export function instance(): ReturnType<typeof open> {
  kept.instance ??= open();
  return kept.instance;
}

/** Lets the routes use the Ostiary of a test. */
export function replaceInstance(ostiary: Ostiary): void {
  kept.instance = Promise.resolve(withPages(ostiary));
}
