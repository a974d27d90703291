import { runCommandLine } from '@ostiary/cli';
import { doctorCommand } from '@ostiary/cli/doctor';
import { LedgerError } from '../ledger/ledger.ts';
import { AccountError, UnknownUserError } from '../users/accounts.ts';
import { version } from '../version.ts';
import { backup } from './backup.ts';
import { diagnoseEnvironment } from './doctor.ts';
import { move } from './move.ts';
import { openOperated } from './operated.ts';
import { partnerFundCommands } from './partner-funds.ts';
import { passportCommand } from './passport.ts';
import { userCommands } from './users.ts';

// What a command writes (a database, its WAL) is for its own user only.
process.umask(0o077);
process.exitCode = await runCommandLine({
  open: openOperated,
  commands: {
    ...userCommands,
    ...partnerFundCommands,
    passport: passportCommand,
    move,
    backup,
    doctor: doctorCommand(diagnoseEnvironment),
  },
  version,
  isNotFound: (error) => error instanceof UnknownUserError,
  isUsageError: (error) => error instanceof AccountError || error instanceof LedgerError,
});
