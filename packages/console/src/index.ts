export type { OperatorPages, PartnerConsole } from '@ostiary/core/console';
export { sandboxConsole } from './console.ts';
export { operatorsConsole } from './operators/console.ts';
