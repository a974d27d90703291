export { isLoopbackUrl } from '@ostiary/web-kit';
export { configForCommands, demoDataDir, demoKeyFile } from './cli/find-installation.ts';
export { ConfigError, loadConfig, type ServerConfig } from './config.ts';
export { createLogger } from './http/logging.ts';
export { type Installation, type InstallationOptions, openInstallation } from './installation.ts';
export { closeOnSignals, failToStart } from './lifecycle.ts';
export { type ReferenceServer, type ServerOptions, startReferenceServer } from './server.ts';
export type { IdentityChecks } from './users/identity-checks.ts';
export type { NewUser } from './users/input.ts';
