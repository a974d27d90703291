export type { Outlet } from './colour.ts';
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
export { CommandUsageError, listOf, present, styled, table, toggle, value, values } from './command.ts';
export { readPassword } from './password.ts';
export { administrationCommands, type CommandLineOptions, runCommandLine } from './run.ts';
