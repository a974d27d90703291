import { fileURLToPath } from 'node:url';

/** What Node runs to start the app, which `npm test` has built. */
export const command = [fileURLToPath(import.meta.resolve('next/dist/bin/next')), 'start'];
