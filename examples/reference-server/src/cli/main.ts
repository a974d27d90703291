import { runCommandLine } from '@ostiary/cli';
import { doctorCommand } from '@ostiary/cli/doctor';
import { createLogger } from '../http/logging.ts';
import { openInstallation } from '../installation.ts';
import { LedgerError } from '../ledger/ledger.ts';
import { StaffError, UnknownStaffError } from '../staff/members.ts';
import { AccountError, UnknownUserError } from '../users/accounts.ts';
import { version } from '../version.ts';
import { backup } from './backup.ts';
import { diagnoseEnvironment } from './doctor.ts';
import { configForCommands } from './find-installation.ts';
import { move } from './move.ts';
import { partnerFundCommands } from './partner-funds.ts';
import { passportCommand } from './passport.ts';
import { staffCommands } from './staff.ts';
import { userCommands } from './users.ts';

// Make files that a command writes, such as a database and its WAL, accessible to its own user only.
process.umask(0o077);
process.exitCode = await runCommandLine({
  // Servers may use the database at the same time.
  open: async () => openInstallation(await configForCommands(process.env), createLogger('silent')),
  commands: {
    ...userCommands,
    ...staffCommands,
    ...partnerFundCommands,
    passport: passportCommand,
    move,
    backup,
    doctor: doctorCommand(diagnoseEnvironment),
  },
  version,
  isNotFound: (error) => error instanceof UnknownUserError || error instanceof UnknownStaffError,
  isUsageError: (error) =>
    error instanceof AccountError || error instanceof LedgerError || error instanceof StaffError,
});
