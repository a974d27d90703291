export type { OperatorPages, PartnerConsole } from '@ostiary/core/console';
export { operatorsConsole } from './operators/operators-console.ts';
export { sandboxConsole } from './sandbox-console.ts';
