import type { Database } from '../database/database.ts';
import type { Passwords } from '../users/passwords.ts';
import { createJoining } from './joining.ts';
import { createManagement } from './management.ts';
import { createStaffRows, toMember } from './members.ts';
import type { Sealer } from './sealed.ts';
import { createStaffSecrets } from './secrets.ts';
import { createVerification } from './verification.ts';

/** Functions for the accounts of the people who run the service. */
export type Staff = ReturnType<typeof createStaff>;

export function createStaff(database: Database, passwords: Passwords, sealer: Sealer, now: () => number) {
  const rows = createStaffRows(database);
  return {
    get: rows.get,
    list: rows.list,
    secrets: createStaffSecrets(database, sealer),
    /** Returns a staff member by e-mail address. @throws UnknownStaffError */
    require: async (email: string) => toMember(await rows.require(database, email)),
    ...createManagement(database, rows, now),
    ...createJoining(database, rows, passwords, sealer, now),
    ...createVerification(database, rows, passwords, sealer, now),
  };
}
