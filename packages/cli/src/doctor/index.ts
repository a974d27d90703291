/**
 * Examines a running deployment: addresses, TLS, proxies, clocks, keys, database, workers.
 *
 * @packageDocumentation
 */
export { isWideRange } from './address.ts';
export { doctorCommand } from './command.ts';
export { type PostgresSettings, readPostgresSettings, unsafeSettings } from './database.ts';
export { type ExamineOptions, examine } from './examine.ts';
export type {
  DoctorDatabase,
  DoctorSettings,
  Examined,
  NodeFacts,
  SealedCount,
  ServerNode,
} from './examined.ts';
export type { Finding, Verdict } from './finding.ts';
export { keyIdOf, sealIdOf } from './key-proofs.ts';
export { countSecrets, readWaiting, type Waiting } from './readings.ts';
export { createDoctorRoute, type DoctorRouteOptions, type ProbeAnswer } from './route.ts';
