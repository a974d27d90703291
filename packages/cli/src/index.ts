export type { Outlet } from './colour.ts';
export { styled } from './colour.ts';
export type {
  Command,
  CommandArguments,
  CommandContext,
  CommandDescription,
  CommandFlag,
  CommandOutput,
  CommandSubject,
  Commands,
  CommandTerminal,
  ProgressStep,
  StandaloneCommand,
} from './command.ts';
export { CommandUsageError, present, table, toggle, value, values } from './command.ts';
export { listOf } from './lists.ts';
export { readPassword } from './password.ts';
export { administrationCommands, type CommandLineOptions, runCommandLine } from './run.ts';
