import { discovery } from './modules/discovery.ts';
import type { Module } from './modules/module.ts';
import { requests, scopes } from './modules/requests.ts';
import { sessions } from './modules/sessions.ts';
import { tokens } from './modules/tokens.ts';

/** Modules by what they are about. */
export interface Plan {
  readonly name: string;
  readonly title: string;
  readonly modules: readonly Module[];
}

/** Sign-in with the authorization code flow: the profile that every relying party starts from. */
export const basicOp: Plan = {
  name: 'oidcc-basic-certification-test-plan',
  title: 'Basic OP',
  modules: [...requests, ...scopes, ...sessions, ...tokens],
};

/** Discovery. */
export const configOp: Plan = {
  name: 'oidcc-config-certification-test-plan',
  title: 'Config OP',
  modules: discovery,
};
