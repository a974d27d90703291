import { me } from './api.ts';
import { provisionDemoClient } from './demo-client.ts';
import { homePage, loginPage, signIn } from './login.ts';
import { openOstiary } from './ostiary.ts';

async function open() {
  const ostiary = await openOstiary();
  await provisionDemoClient(ostiary);
  ostiary.worker.start(); // removes old rows
  return { ostiary, homePage, loginPage, signIn, me };
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
