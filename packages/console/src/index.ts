export type { OperatorPages, PartnerConsole } from '@ostiary/core/console';
export type { HostAct } from './operators/host-acts.ts';
export type {
  OperatorStaff,
  StaffAccount,
  StaffInvitation,
  StaffRefusal,
} from './operators/host-staff.ts';
export type { OperatorUser, OperatorUsers } from './operators/host-users.ts';
export { operatorsConsole } from './operators/operators-console.ts';
export { qrCode } from './qr-code.ts';
export { sandboxConsole } from './sandbox-console.ts';
