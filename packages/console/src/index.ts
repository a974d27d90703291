export type { PartnerConsole } from '@ostiary/core/console';
export { sandboxConsole } from './console.ts';
